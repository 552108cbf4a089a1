package io.idempotency.benchmarks.report;

import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * How much is measured, out of system properties.
 *
 * @param rounds how many pairs of turns a figure has
 * @param millis how long a turn is
 * @param warmUp how long a server is warmed up at most
 * @param stolen the part of the processors that others may take from a pair that counts
 * @param only the names of the sections that are measured
 * @param directory where the page and the charts go
 */
record Settings(int rounds, long millis, Duration warmUp, double stolen, Pattern only, Path directory) {

	/** How many connections the client has. */
	static final int CONNECTIONS = 16;

	/** How many bytes the body of a request has, and that of its answer. */
	static final int BODY = 250;

	static Settings ofSystem() {
		return new Settings(Integer.getInteger("rounds", 9), Long.getLong("millis", 400),
				Duration.ofMillis(Long.getLong("warm-up", 90_000)),
				Double.parseDouble(System.getProperty("stolen", "0.1")),
				Pattern.compile(System.getProperty("only", ".*")),
				Path.of(System.getProperty("directory", "target/performance")));
	}

	/**
	 * How many pairs a figure has whose goal is nearer to its base than its spread is
	 * wide.
	 */
	int manyRounds() {
		return this.rounds * 41 / 9;
	}

	boolean isPartial() {
		return !this.only.pattern().equals(".*");
	}

}
