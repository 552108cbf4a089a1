package io.idempotency.benchmarks.load;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures what the guard costs a whole request: one server, one client, in processes of
 * their own. The two variants of a figure take turns, so that a machine that gets slower
 * slows down both; the figure is the median of the ratios of the turns. Beside the rate
 * stands the processor time that the server takes for a request, which other work on the
 * machine changes least.
 */
final class EndToEnd {

	private static final int CONNECTIONS = 16;

	private final int rounds = Integer.getInteger("rounds", 7);

	private final long millis = Long.getLong("millis", 2000);

	private final long warmUpMillis = Long.getLong("warm-up", 8000);

	private final String bodySize = System.getProperty("body", "250");

	private EndToEnd() {
	}

	/**
	 * Measures the figures of one store.
	 * @param args {@code memory}, {@code redis} or {@code jdbc}, and further arguments of
	 * the application, such as where the server is
	 */
	public static void main(String[] args) throws IOException {
		new EndToEnd().measure(args[0], List.of(args).subList(1, args.length));
	}

	private void measure(String store, List<String> arguments) throws IOException {
		List<String> application = new ArrayList<>(arguments);
		application.add("--idempotency.store=" + store);
		try (OtherProcess server = OtherProcess.java(LoadApplication.class, application)) {
			String port = server.lineWith("port ").substring("port ".length());
			try (OtherProcess client = OtherProcess.java(LoadClient.class,
					List.of(port, Integer.toString(CONNECTIONS), this.bodySize))) {
				System.out.println("| " + store + " | requests a second | processor time of the server |");
				System.out.println("|---|---|---|");
				for (Figure figure : Figure.of(store)) {
					print(figure, server, client);
				}
			}
		}
	}

	private void print(Figure figure, OtherProcess server, OtherProcess client) throws IOException {
		run(server, client, figure.measured(), this.warmUpMillis);
		run(server, client, figure.base(), this.warmUpMillis);
		List<Double> rates = new ArrayList<>();
		List<Double> costs = new ArrayList<>();
		for (int round = 0; round < this.rounds; round++) {
			Turn base = run(server, client, figure.base(), this.millis);
			Turn measured = run(server, client, figure.measured(), this.millis);
			rates.add(measured.rate() / base.rate());
			costs.add(measured.cost() / base.cost());
		}
		System.out.println("| " + figure.name() + " | " + median(rates) + " | " + median(costs) + " |");
	}

	/** With the least and the most of them. */
	private static String median(List<Double> ratios) {
		ratios.sort(null);
		return String.format(Locale.ROOT, "%.2f (%.2f to %.2f)", ratios.get(ratios.size() / 2), ratios.get(0),
				ratios.get(ratios.size() - 1));
	}

	private static Turn run(OtherProcess server, OtherProcess client, String order, long millis) throws IOException {
		Duration before = server.processorTime();
		client.send(order + " " + millis);
		String[] answer = client.line().split(" ");
		double requests = Double.parseDouble(answer[0]);
		return new Turn(requests / Double.parseDouble(answer[1]),
				server.processorTime().minus(before).toNanos() / requests);
	}

	/**
	 * What one variant did in its turn.
	 *
	 * @param rate requests for a unit of time
	 * @param cost the server's processor time for one request
	 */
	private record Turn(double rate, double cost) {
	}

}
