package io.idempotency.it.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import io.idempotency.IdempotencyInProgressException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Clients that call with key after key, each key twice, and come again when they are told
 * to.
 */
public final class Callers {

	private static final int CLIENTS = 4;

	private static final int ENOUGH = 50;

	private final List<? extends StoreNode<?>> nodes;

	private final Runs runs;

	/**
	 * Creates the clients.
	 * @param nodes whom they call
	 * @param runs what the calls do
	 */
	public Callers(List<? extends StoreNode<?>> nodes, Runs runs) {
		this.nodes = nodes;
		this.runs = runs;
	}

	/**
	 * Calls before, during and after a fault, and expects one run of each key.
	 * @param fault the fault, over when it returns
	 * @return the keys, all of which were answered
	 */
	public List<String> callWhile(Runnable fault) throws Exception {
		List<String> keys = callWhile(this::expectReplayed, fault);
		this.runs.expectOneOf(keys);
		return keys;
	}

	/**
	 * Calls before, during and after a fault in which the store may forget.
	 * @param fault the fault, over when it returns
	 */
	public void callWhileStoreForgets(Runnable fault) throws Exception {
		callWhile(this::expectAnyEnd, fault);
	}

	private List<String> callWhile(BiConsumer<StoreNode<?>, String> duplicate, Runnable fault) throws Exception {
		ConcurrentLinkedQueue<String> keys = new ConcurrentLinkedQueue<>();
		AtomicBoolean over = new AtomicBoolean();
		ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
		try {
			List<CompletableFuture<Void>> calls = new ArrayList<>();
			for (int i = 0; i < CLIENTS; i++) {
				StoreNode<?> first = this.nodes.get(i % this.nodes.size());
				StoreNode<?> second = this.nodes.get((i + i / 2) % this.nodes.size());
				calls.add(CompletableFuture.runAsync(() -> {
					while (!over.get()) {
						String key = UUID.randomUUID().toString();
						assertThat(first.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
						duplicate.accept(second, key);
						keys.add(key);
					}
				}, clients));
			}
			awaitMore(keys, calls);
			fault.run();
			awaitMore(keys, calls);
			over.set(true);
			CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(120, TimeUnit.SECONDS);
			return List.copyOf(keys);
		}
		finally {
			over.set(true);
			clients.shutdownNow();
		}
	}

	private void expectReplayed(StoreNode<?> node, String key) {
		assertThat(node.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
	}

	/**
	 * Replayed; or the record is forgotten; or only that it was completed is, and the key
	 * is in progress until the lease is over.
	 */
	private void expectAnyEnd(StoreNode<?> node, String key) {
		try {
			assertThat(node.executeUntilUp(key, () -> this.runs.run(key))).startsWith(key + " run ");
		}
		catch (IdempotencyInProgressException ex) {
			assertThat(this.runs.of(key)).as("runs").isEqualTo(1);
		}
	}

	/** Or until a client has failed, which is found when all are asked. */
	private static void awaitMore(ConcurrentLinkedQueue<String> keys, List<CompletableFuture<Void>> calls) {
		int before = keys.size();
		await().atMost(Duration.ofSeconds(60))
			.until(() -> keys.size() > before + ENOUGH || calls.stream().anyMatch(CompletableFuture::isDone));
	}

}
