package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What Redis itself does for a request. */
final class RedisCost implements Section.Measuring {

	private static final Map<String, String> REQUESTS = Map.of("fresh", "/guarded FRESH", "replay", "/guarded REPLAY",
			"unguarded with two raw commands", "/raw FRESH");

	private final StoreServers servers;

	private final Settings settings;

	RedisCost(StoreServers servers, Settings settings) {
		this.servers = servers;
		this.settings = settings;
	}

	@Override
	public void into(Page page) throws IOException {
		List<List<?>> rows = new ArrayList<>();
		try (LoadedServer server = LoadedServer.start(Jdk.current(), this.servers.redis(0), Settings.BODY)) {
			for (String name : List.of("fresh", "replay", "unguarded with two raw commands")) {
				rows.add(measure(server, name, REQUESTS.get(name)));
			}
		}
		page.table("Processor time of Redis",
				"From `INFO commandstats`, for one request; a script is counted with the commands it calls, which stand beside it once more. Redis reads the clock, so what else runs on the processors counts, too.",
				List.of("", "commands sent", "µs of Redis in all", "which"), rows);
	}

	private List<?> measure(LoadedServer server, String name, String order) throws IOException {
		server.warmUp(order, this.settings.warmUpMillis() / 2);
		CommandStats before = CommandStats.of(this.servers.redis());
		double requests = server.run(order, this.settings.millis() * 5).requests();
		CommandStats done = CommandStats.of(this.servers.redis()).since(before);
		CommandStats.Command sent = done.sent();
		return List.of(name, number(sent.calls() / requests), number(sent.micros() / requests),
				done.describe(requests));
	}

	private static String number(double value) {
		return String.format(Locale.ROOT, "%.2f", value);
	}

}
