package io.idempotency.it.message;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.idempotency.it.random.Seed;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.OtherJvm;
import io.idempotency.it.servers.ServerProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A thousand messages are delivered three times each, in any order, to two consumers of
 * one queue or group. Each consumer has a JVM of its own, and one JVM is killed in the
 * middle of two messages. Each message has one effect, also those: a message whose work
 * nobody can look up is taken over by the other consumer when the lease of the dead one
 * is over, and runs there; of a message whose work was done, {@code recover} tells the
 * other consumer.
 */
@Tag("own-processes")
abstract class ListenerProcessContract {

	private static final int MESSAGES = Integer.getInteger("idempotency.tests.intents",
			Nightly.Condition.isWanted() ? 1000 : 300);

	private static final int DELIVERIES = 3;

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private static final List<String> NODES = List.of("one", "other");

	/** A broker gives idle consumers one message after the other: two are enough. */
	private static final int ENOUGH = 10;

	private static final String LAST = "last";

	private static final String LAST_KEPT = "last-kept";

	private final WorkerStore store;

	private final WorkerBroker broker;

	ListenerProcessContract(WorkerStore store, WorkerBroker broker) {
		this.store = store;
		this.broker = broker;
	}

	@AfterEach
	void close() {
		this.broker.close();
		this.store.close();
	}

	@Test
	void eachMessageHasOneEffectThoughAConsumerIsKilled() throws Exception {
		Path directory = Files.createTempDirectory(Files.createDirectories(Path.of("target", "servers")), "consumers-")
			.toAbsolutePath();
		try (ServerProcess one = start(NODES.get(0), directory); ServerProcess other = start(NODES.get(1), directory)) {
			await("two consumers; they log to " + directory).atMost(PATIENCE)
				.until(() -> this.broker.isConsumedBy(NODES.size()));
			this.broker.send(this.broker.queue(), deliveries(Seed.random(ListenerProcessContract.class)));
			String victim = awaitNode(WorkerTask.BEGAN, WorkerTask.MORTAL);
			List<String> kept = sendUntilTheVictimHasOne(victim);
			boolean first = victim.equals(NODES.get(0));
			(first ? one : other).kill();
			this.broker.send(this.broker.keptQueue(), kept);
			awaitTakeOvers(kept, directory);
			awaitEnd(first ? other : one, directory);
			assertOneEffectEach(victim, kept);
		}
	}

	/**
	 * Sends messages until one is done, and not acknowledged, by the consumer that is to
	 * die.
	 */
	private List<String> sendUntilTheVictimHasOne(String victim) {
		List<String> kept = new ArrayList<>();
		String node = "";
		while (!node.equals(victim)) {
			assertThat(kept).as("messages until the consumer has one").hasSizeLessThan(ENOUGH);
			String message = "kept-" + kept.size();
			kept.add(message);
			this.broker.send(this.broker.keptQueue(), List.of(message));
			node = awaitNode(WorkerTask.DID, message);
		}
		return kept;
	}

	private void awaitTakeOvers(List<String> kept, Path directory) {
		await("the effects; the consumers log to " + directory).atMost(PATIENCE).untilAsserted(() -> {
			assertThat(done()).containsAll(expected(kept));
			assertThat(this.store.effects().lines()).anyMatch((line) -> line.contains(WorkerTask.FOUND));
		});
	}

	/**
	 * A consumer that is asked to end may give back what it has not begun, so it gets a
	 * last message in each queue. When it has ended, nothing may come back.
	 */
	private void awaitEnd(ServerProcess survivor, Path directory) {
		this.broker.send(this.broker.queue(), List.of(LAST));
		this.broker.send(this.broker.keptQueue(), List.of(LAST_KEPT));
		await("the end of the queues; the consumers log to " + directory).atMost(PATIENCE).untilAsserted(() -> {
			assertThat(done()).contains(LAST, LAST_KEPT);
			assertThat(this.broker.isDrained()).as("drained").isTrue();
		});
		survivor.terminate();
		await("the end of the consumer, which logs to " + directory).atMost(PATIENCE).until(survivor::hasEnded);
		await("empty queues").atMost(PATIENCE).until(this.broker::isDrained);
	}

	private void assertOneEffectEach(String victim, List<String> kept) {
		List<String> lines = this.store.effects().lines();
		List<String> expected = new ArrayList<>(expected(kept));
		expected.addAll(List.of(LAST, LAST_KEPT));
		assertThat(done()).as("effects").containsExactlyInAnyOrderElementsOf(expected);
		String survivor = NODES.get(1 - NODES.indexOf(victim));
		assertThat(lines).contains(WorkerTask.line(survivor, WorkerTask.DID, WorkerTask.MORTAL));
		String doneByTheDeadOne = kept.get(kept.size() - 1);
		assertThat(lines).contains(WorkerTask.line(victim, WorkerTask.DID, doneByTheDeadOne));
		assertThat(lines).filteredOn((line) -> line.contains(WorkerTask.FOUND))
			.containsExactly(WorkerTask.line(survivor, WorkerTask.FOUND, doneByTheDeadOne));
		assertThat(lines).filteredOn((line) -> line.startsWith(victim))
			.as("what the dead one did")
			.hasSizeGreaterThan(2);
	}

	private static List<String> expected(List<String> kept) {
		return Stream.of(messages(), Stream.of(WorkerTask.MORTAL), kept.stream()).flatMap((all) -> all).toList();
	}

	private List<String> done() {
		return this.store.effects()
			.lines()
			.stream()
			.filter((line) -> line.contains(WorkerTask.line("", WorkerTask.DID, "")))
			.map((line) -> line.substring(line.lastIndexOf(' ') + 1))
			.toList();
	}

	/** Waits until a consumer says this; gives its name. */
	private String awaitNode(String verb, String message) {
		return await("a consumer that " + verb + " " + message).atMost(PATIENCE)
			.until(() -> NODES.stream()
				.filter((node) -> this.store.effects().lines().contains(WorkerTask.line(node, verb, message)))
				.findAny()
				.orElse(""), (node) -> !node.isEmpty());
	}

	private static Stream<String> messages() {
		return IntStream.range(0, MESSAGES).mapToObj((number) -> "message-" + number);
	}

	private static List<String> deliveries(Random random) {
		List<String> deliveries = new ArrayList<>();
		for (int i = 0; i < DELIVERIES; i++) {
			messages().forEach(deliveries::add);
		}
		Collections.shuffle(deliveries, random);
		int half = deliveries.size() / 2;
		for (int i = 0; i < DELIVERIES; i++) {
			deliveries.add(half + random.nextInt(half), WorkerTask.MORTAL);
		}
		return deliveries;
	}

	private ServerProcess start(String node, Path directory) {
		List<String> arguments = new ArrayList<>(
				List.of("--test.node=" + node, "--test.queue=" + this.broker.queue(), "--spring.main.banner-mode=off"));
		Stream.of(this.store.properties(), this.broker.properties())
			.flatMap(List::stream)
			.forEach((property) -> arguments.add("--" + property));
		return ServerProcess.start(OtherJvm.command(this.broker.consumer(), arguments),
				directory.resolve(node + ".log"));
	}

}
