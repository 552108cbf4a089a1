package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.idempotency.benchmarks.BenchmarkStore;
import io.idempotency.http.StoredAnswers;
import io.idempotency.it.servers.OtherJvm;
import io.idempotency.it.servers.RedisServer;

/** What Redis itself does for a request. */
final class RedisCost implements Section.Measuring {

	private static final Map<String, String> REQUESTS = Map.of("fresh", "/guarded FRESH", "replay", "/guarded REPLAY",
			"unguarded with two raw commands", "/raw FRESH");

	private static final Goal ALONE = Goal.atMost("a fresh call, one after the other: time of Redis", 12, " µs");

	private static final int TURNS = 50;

	private static final int CALLS = 300;

	private final StoreServers servers;

	private final Settings settings;

	RedisCost(StoreServers servers, Settings settings) {
		this.servers = servers;
		this.settings = settings;
	}

	@Override
	public void into(Page page) throws Exception {
		List<List<?>> rows = new ArrayList<>();
		try (LoadedServer server = LoadedServer.start(Jdk.current(), OtherJvm.Stack.SERVLET, this.servers.redis(0),
				Settings.BODY)) {
			server.warmUp(List.copyOf(REQUESTS.values()), this.settings.warmUp(), page);
			for (String name : List.of("fresh", "replay", "unguarded with two raw commands")) {
				rows.add(measure(server, name, REQUESTS.get(name)));
			}
		}
		double alone = alone();
		page.judge(ALONE, alone);
		rows.add(List.of("claim and completion, one after the other, and nothing else runs", "2.00", number(alone),
				"the median of " + TURNS + " times " + CALLS));
		page.table("Processor time of Redis",
				"From `INFO commandstats`, for one request; a script is counted with the commands it calls, which stand beside it once more. Redis reads the clock, so what else runs on the processors counts, too.",
				List.of("", "commands sent", "µs of Redis in all", "which"), rows);
	}

	/** The micros of a fresh call of the store while Redis has the machine for itself. */
	private double alone() throws Exception {
		try (RedisServer server = RedisServer.start(this.servers.redis().binary());
				BenchmarkStore store = BenchmarkStore.open("redis://127.0.0.1:" + server.port(),
						StoredAnswers.json(200))) {
			List<Double> micros = new ArrayList<>();
			for (int turn = 0; turn < TURNS; turn++) {
				CommandStats before = CommandStats.of(server);
				for (int call = 0; call < CALLS; call++) {
					store.fresh();
				}
				micros.add((double) CommandStats.of(server).since(before).sent().micros() / CALLS);
			}
			return Spread.of(micros).median();
		}
	}

	private List<?> measure(LoadedServer server, String name, String order) throws IOException {
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

	/**
	 * What a Redis has done since it began, command by command. A script is counted with
	 * what it calls, and what it calls once more.
	 *
	 * @param commands the commands by their names
	 */
	record CommandStats(Map<String, Command> commands) {

		private static final String PREFIX = "cmdstat_";

		private static final Set<String> SCRIPTS = Set.of("evalsha", "eval", "fcall");

		/** What this class and the clients ask beside the calls. */
		private static final Set<String> OURS = Set.of("info", "ping", "hello", "client|setinfo", "command|docs");

		static CommandStats of(RedisServer server) {
			Map<String, Command> commands = new TreeMap<>();
			Properties lines = server.info("commandstats");
			for (String line : lines.stringPropertyNames()) {
				if (line.startsWith(PREFIX)) {
					String name = line.substring(PREFIX.length());
					if (!OURS.contains(name)) {
						commands.put(name, Command.parse(lines.getProperty(line)));
					}
				}
			}
			return new CommandStats(commands);
		}

		/** What was done since then. */
		CommandStats since(CommandStats then) {
			Map<String, Command> difference = new TreeMap<>();
			this.commands.forEach((name, now) -> {
				Command before = then.commands.getOrDefault(name, Command.NONE);
				if (now.calls > before.calls) {
					difference.put(name, new Command(now.calls - before.calls, now.micros - before.micros));
				}
			});
			return new CommandStats(difference);
		}

		/** What clients have sent: the scripts, or all commands where there are none. */
		Command sent() {
			boolean scripts = this.commands.keySet().stream().anyMatch(SCRIPTS::contains);
			return this.commands.entrySet()
				.stream()
				.filter((entry) -> !scripts || SCRIPTS.contains(entry.getKey()))
				.map(Map.Entry::getValue)
				.reduce(Command.NONE, Command::plus);
		}

		/** Each command: how often for a request, and how long it takes. */
		String describe(double requests) {
			return this.commands.entrySet()
				.stream()
				.map((entry) -> String.format(Locale.ROOT, "%.2f × `%s` of %.1f µs", entry.getValue().calls / requests,
						entry.getKey().toUpperCase(Locale.ROOT),
						(double) entry.getValue().micros / entry.getValue().calls))
				.collect(Collectors.joining(", "));
		}

		/**
		 * One command.
		 *
		 * @param calls how often it was called
		 * @param micros how long all calls took
		 */
		record Command(long calls, long micros) {

			static final Command NONE = new Command(0, 0);

			/** Reads {@code calls=21,usec=175,usec_per_call=8.33,…}. */
			static Command parse(String values) {
				return new Command(value(values, "calls="), value(values, "usec="));
			}

			private static long value(String values, String name) {
				int from = values.indexOf(name) + name.length();
				int end = values.indexOf(',', from);
				return Long.parseLong(values.substring(from, (end < 0) ? values.length() : end).strip());
			}

			Command plus(Command other) {
				return new Command(this.calls + other.calls, this.micros + other.micros);
			}

		}

	}

}
