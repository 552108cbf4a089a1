package io.idempotency.it.message;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;

/**
 * The work of a consumer that may be killed at any moment: it takes some milliseconds,
 * and one of fifty takes half a second. Its effect is a line of a file that all consumers
 * share, which is with the kernel before the work goes on.
 */
class DeliveryTask implements AutoCloseable {

	/** Of the listeners that are guarded. */
	static final String LEASE = "6s";

	/** What the listeners without a guard consume. */
	static final String CONTROL = "${test.queue}" + WorkerBroker.KEPT;

	private static final int THREADS = 4;

	private static final long SHORT_MILLIS = 4;

	private static final long LONG_MILLIS = 500;

	private static final int ONE_OF = 50;

	private final Path effects;

	private final Path control;

	private final ExecutorService workers = Executors.newFixedThreadPool(THREADS);

	DeliveryTask(@Value("${test.directory}") Path directory) {
		this.effects = effects(directory);
		this.control = control(directory);
	}

	static Path effects(Path directory) {
		return directory.resolve("effects");
	}

	static Path control(Path directory) {
		return directory.resolve("control");
	}

	void work(String payload) {
		work(payload, this.effects);
	}

	/** The threads to which some listeners hand their work. */
	ExecutorService workers() {
		return this.workers;
	}

	/** The same work without a guard. */
	void control(String payload) {
		work(payload, this.control);
	}

	private static void work(String payload, Path effects) {
		long millis = (Math.floorMod(payload.hashCode(), ONE_OF) == 0) ? LONG_MILLIS : SHORT_MILLIS;
		pause(millis);
		try {
			Files.writeString(effects, payload + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		pause(millis);
	}

	private static void pause(long millis) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		for (long rest = end - System.nanoTime(); rest > 0; rest = end - System.nanoTime()) {
			LockSupport.parkNanos(rest);
		}
	}

	/** Looks up whether a consumer that is gone has had the effect. */
	@Nullable String find(String payload) {
		return lines(this.effects).contains(payload) ? payload : null;
	}

	@Override
	public void close() {
		this.workers.shutdownNow();
	}

	static List<String> lines(Path file) {
		try {
			return Files.exists(file) ? Files.readAllLines(file, StandardCharsets.UTF_8) : List.of();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
