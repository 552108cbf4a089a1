package io.idempotency.benchmarks.report;

import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.idempotency.it.servers.RedisServer;

/**
 * What a Redis has done since it began, command by command. A script is counted with what
 * it calls, and what it calls once more.
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
					entry.getKey().toUpperCase(Locale.ROOT), (double) entry.getValue().micros / entry.getValue().calls))
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
