package io.idempotency.benchmarks.report;

import java.util.ArrayList;
import java.util.List;

/**
 * What is measured on one application, or on two that differ in a setting.
 *
 * @param name its name
 * @param chart the chart that its ratios are in, empty if they are in none
 * @param jdk what the applications run on
 * @param stack which stack they have
 * @param body how many bytes a body has
 * @param measured the arguments of the application that is measured
 * @param base the arguments of the one beside it, {@code null} for the same one
 * @param figures the figures
 */
record Stage(String name, String chart, Jdk jdk, Stack stack, int body, List<String> measured, List<String> base,
		List<Figure> figures) {

	static Stage of(String name, String chart, List<String> arguments, List<Figure> figures) {
		return new Stage(name, chart, Jdk.current(), Stack.SERVLET, Settings.BODY, arguments, null, figures);
	}

	Stage on(Jdk newJdk) {
		return new Stage(this.name, this.chart, newJdk, this.stack, this.body, this.measured, this.base, this.figures);
	}

	Stage withBody(int size) {
		return new Stage(this.name, this.chart, this.jdk, this.stack, size, this.measured, this.base, this.figures);
	}

	Stage beside(List<String> arguments) {
		return new Stage(this.name, this.chart, this.jdk, this.stack, this.body, this.measured, arguments,
				this.figures);
	}

	Stage reactive() {
		return new Stage(this.name, this.chart, this.jdk, Stack.REACTIVE, this.body, this.measured, this.base,
				this.figures);
	}

	List<Measured> measure(Settings settings) throws Exception {
		try (LoadedServer server = LoadedServer.start(this.jdk, this.stack, this.measured, this.body);
				LoadedServer other = (this.base != null)
						? LoadedServer.start(this.jdk, this.stack, this.base, this.body) : null) {
			LoadedServer beside = (other != null) ? other : server;
			// All variants first: a server is not warm after its first thousands of
			// requests.
			for (Figure figure : this.figures) {
				server.warmUp(figure.measured(), settings.warmUpMillis());
				beside.warmUp(figure.base(), settings.warmUpMillis());
			}
			Pairs pairs = new Pairs(settings);
			List<Measured> results = new ArrayList<>();
			for (Figure figure : this.figures) {
				results.add(pairs.measure(figure, server, beside));
			}
			return results;
		}
	}

}
