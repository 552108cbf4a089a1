package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * A JDK of this machine.
 *
 * @param home where it is
 * @param version its version
 */
record Jdk(Path home, Runtime.Version version) {

	private static final int VIRTUAL_THREADS_SINCE = 21;

	/** The one that runs this. */
	static Jdk current() {
		return new Jdk(Path.of(System.getProperty("java.home")), Runtime.version());
	}

	/**
	 * Returns one that has virtual threads: the current one, or else the newest beside
	 * it.
	 */
	static Optional<Jdk> withVirtualThreads() throws IOException {
		Jdk current = current();
		if (current.hasVirtualThreads()) {
			return Optional.of(current);
		}
		try (Stream<Path> homes = Files.list(current.home.toRealPath().getParent())) {
			return homes.flatMap((home) -> at(home).stream())
				.filter(Jdk::hasVirtualThreads)
				.max(Comparator.comparing(Jdk::version));
		}
	}

	private static Optional<Jdk> at(Path home) {
		Path release = home.resolve("release");
		if (!Files.isExecutable(home.resolve("bin").resolve("java")) || !Files.isReadable(release)) {
			return Optional.empty();
		}
		Properties properties = new Properties();
		try (var reader = Files.newBufferedReader(release)) {
			properties.load(reader);
		}
		catch (IOException unreadable) {
			return Optional.empty();
		}
		return Optional.ofNullable(properties.getProperty("JAVA_VERSION"))
			.map((version) -> version.replace("\"", ""))
			// Older ones were counted otherwise, and have no virtual threads anyway.
			.filter((version) -> !version.startsWith("1."))
			.map((version) -> new Jdk(home, Runtime.Version.parse(version)));
	}

	private boolean hasVirtualThreads() {
		return this.version.feature() >= VIRTUAL_THREADS_SINCE;
	}

	@Override
	public String toString() {
		return "JDK " + this.version;
	}

}
