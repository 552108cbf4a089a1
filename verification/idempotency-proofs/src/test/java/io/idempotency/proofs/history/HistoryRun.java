package io.idempotency.proofs.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** Makes a history: three nodes, their callers, and what happens to them. */
final class HistoryRun {

	private static final List<String> NODES = List.of("one", "two", "three");

	/** Its clock is fast. */
	private static final String FAST = "three";

	private static final int CALLERS = Integer.getInteger("idempotency.history.callers", 24);

	/** Such as {@code idempotency.renewal=false}, to see that the checker finds it. */
	private static final List<String> MORE = Arrays
		.stream(System.getProperty("idempotency.history.properties", "").split(","))
		.filter((property) -> !property.isEmpty())
		.toList();

	private final HistoryStore store;

	private final Path directory;

	private final Random chance;

	HistoryRun(HistoryStore store, Path directory, Random chance) {
		this.store = store;
		this.directory = directory;
		this.chance = chance;
	}

	/**
	 * Calls, and does harm.
	 * @param duration for how long
	 * @return what was written down
	 */
	History run(Duration duration) throws Exception {
		List<HistoryNode> nodes = new ArrayList<>();
		try (Journal journal = new Journal(this.directory.resolve("run.journal"));
				Journal calls = new Journal(this.directory.resolve("calls.journal"));
				StallWatch watch = new StallWatch(Fault.ALL, journal)) {
			journal.write("history", this.store.lease().toNanos() / 1_000, this.store.forgets() ? "forgets" : "keeps");
			NODES.forEach((name) -> nodes.add(newNode(name)));
			start(nodes);
			try (Callers callers = new Callers(CALLERS, nodes, operations(), calls)) {
				callers.start();
				new Faults(nodes, this.store, journal, this.chance)
					.inflictUntil(System.nanoTime() + duration.toNanos());
				callers.finish();
			}
			this.store.tellEffects(journal);
		}
		finally {
			nodes.forEach(HistoryNode::close);
		}
		return History.read(this.directory);
	}

	/** All that the store has, or those that somebody wants to look at. */
	private List<Operation> operations() {
		String wanted = System.getProperty("idempotency.history.operations", "");
		return wanted.isEmpty() ? this.store.operations()
				: Arrays.stream(wanted.split(",")).map(Operation::of).toList();
	}

	private HistoryNode newNode(String name) {
		List<String> properties = new ArrayList<>(this.store.properties(name));
		properties.addAll(List.of("idempotency.lease=" + this.store.lease().toSeconds() + "s",
				"idempotency.store-timeout=800ms", "idempotency.wait-timeout=1s"));
		properties.addAll(MORE);
		return new HistoryNode(name, this.store.stack(name),
				name.equals(FAST) ? FastClockApplication.class : HistoryApplication.class, properties, this.directory);
	}

	private static void start(List<HistoryNode> nodes) {
		CompletableFuture
			.allOf(nodes.stream()
				.map((node) -> CompletableFuture.runAsync(node::start, (task) -> new Thread(task).start()))
				.toArray(CompletableFuture[]::new))
			.join();
	}

	/** Makes a new place for what is written down. */
	static Path newDirectory(String name) throws IOException {
		Path parent = Files.createDirectories(Path.of("target", "history"));
		return Files.createTempDirectory(parent, name + "-").toAbsolutePath();
	}

}
