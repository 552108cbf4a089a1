package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.store.StoredResult;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStringCommands.SetOption;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.types.Expiration;

/** What Redis itself does for a request. */
final class RedisCost implements Page.Section {

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
		try (Alone alone = new Alone(this.servers.redis().binary())) {
			String how = "the median of " + TURNS + " times " + CALLS + " (least to most)"
					+ (alone.isWarmWithin(this.settings.warmUp()) ? "" : ", of a client that was still compiled");
			alone.measure().forEach((name, micros) -> {
				rows.add(List.of(name + ", one after the other", "2.00", micros, how));
				if (name.equals(Alone.CALL)) {
					page.judge(ALONE, micros.median());
				}
			});
		}
		page.table("Processor time of Redis",
				"From `INFO commandstats`, for one request; a script is counted with the commands it calls, which stand beside it once more. Redis reads the clock, so what else runs on the processors counts, too. "
						+ "One after the other: one connection of a client that is compiled, and nothing else runs; a script that is not ours has the key and the arguments of ours, so that the rows say what is the least.",
				List.of("", "commands sent", "µs of Redis in all", "which"), rows);
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

	/** A Redis that has the machine for itself, and one caller of it. */
	private static final class Alone implements AutoCloseable {

		static final String CALL = "claim and completion";

		private static final String ONE = "return 1";

		private static final String SET = "redis.call('SET', KEYS[1], ARGV[6], 'PX', ARGV[5]) " + ONE;

		private static final String ALL = "redis.call('TIME') redis.call('GET', KEYS[1]) " + SET;

		private static final String DAY = "86400000000";

		private static final String MILLIS = "86400000";

		private final RedisServer server;

		private final LettuceConnectionFactory connections;

		private final RedisConnection connection;

		private final BenchmarkStore store;

		private final Map<String, Runnable> calls = new LinkedHashMap<>();

		private long number;

		Alone(RedisBinary binary) {
			StoredResult result = StoredAnswers.json(200);
			this.server = RedisServer.start(binary);
			this.store = BenchmarkStore.open("redis://127.0.0.1:" + this.server.port(), result);
			this.connections = new LettuceConnectionFactory("127.0.0.1", this.server.port());
			this.connections.afterPropertiesSet();
			this.connections.start();
			this.connection = this.connections.getConnection();
			// What the store sends; the scripts use the fifth and the sixth.
			byte[][] claim = { null, new byte[16], bytes("1"), bytes("30000000"), bytes(DAY), bytes(MILLIS),
					new byte[34] };
			byte[][] completion = { null, new byte[16], bytes("D"), bytes(DAY), bytes("\2h3"), bytes(MILLIS),
					result.bytes(), new byte[40] };
			this.calls.put("two scripts that do nothing", scripts(ONE, claim, completion));
			this.calls.put("two scripts with one `SET`", scripts(SET, claim, completion));
			this.calls.put("two scripts with `TIME`, `GET` and `SET`", scripts(ALL, claim, completion));
			this.calls.put(CALL, this.store::fresh);
			this.calls.put("two raw commands (`SET NX PX`, `SET PX`)", () -> {
				byte[] key = key();
				this.connection.stringCommands()
					.set(key, bytes("running"), Expiration.milliseconds(86_400_000), SetOption.ifAbsent());
				this.connection.stringCommands()
					.set(key, result.bytes(), Expiration.milliseconds(86_400_000), SetOption.upsert());
			});
		}

		private Runnable scripts(String script, byte[][]... arguments) {
			String sha = this.connection.scriptingCommands().scriptLoad(bytes(script));
			return () -> {
				byte[] key = key();
				for (byte[][] keyAndArguments : arguments) {
					keyAndArguments[0] = key;
					this.connection.scriptingCommands().evalSha(sha, ReturnType.INTEGER, 1, keyAndArguments);
				}
			};
		}

		/** A new one, as long as those of the store. */
		private byte[] key() {
			return bytes("idempotency:benchmark:%064x".formatted(++this.number));
		}

		private static byte[] bytes(String text) {
			return text.getBytes(StandardCharsets.US_ASCII);
		}

		/**
		 * Calls until the compiler of this JVM takes less than a twentieth of a round:
		 * while it works, Redis waits for processor and caches in the middle of a
		 * command.
		 */
		boolean isWarmWithin(Duration most) {
			CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
			long begin = System.nanoTime();
			boolean enough = false;
			while (!enough && System.nanoTime() - begin < most.toNanos()) {
				long compiled = compiler.getTotalCompilationTime();
				long round = System.nanoTime();
				for (int turn = 0; turn < TURNS; turn++) {
					this.calls.values().forEach(this::turn);
				}
				enough = (compiler.getTotalCompilationTime() - compiled) * 1e6 < 0.05 * (System.nanoTime() - round);
			}
			return enough;
		}

		/** The micros of Redis for each, in turns. */
		Map<String, Spread> measure() {
			Map<String, List<Double>> micros = new LinkedHashMap<>();
			for (int turn = 0; turn < TURNS; turn++) {
				this.calls.forEach(
						(name, call) -> micros.computeIfAbsent(name, (first) -> new ArrayList<>()).add(turn(call)));
			}
			Map<String, Spread> spreads = new LinkedHashMap<>();
			micros.forEach((name, values) -> spreads.put(name, Spread.of(values)));
			return spreads;
		}

		private double turn(Runnable call) {
			CommandStats before = CommandStats.of(this.server);
			for (int time = 0; time < CALLS; time++) {
				call.run();
			}
			return (double) CommandStats.of(this.server).since(before).sent().micros() / CALLS;
		}

		@Override
		public void close() throws Exception {
			this.connection.close();
			this.connections.destroy();
			this.store.close();
			this.server.close();
		}

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
