package io.idempotency.it.message;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.idempotency.it.servers.OtherJvm;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.ServerProcess;

import static org.awaitility.Awaitility.await;

/**
 * Messages that are delivered three times each, to two consumers in JVMs of their own,
 * while one thing after the other goes wrong. A second queue has the same messages for a
 * listener without a guard.
 */
final class DeliveryRun implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(4);

	private static final int DELIVERIES = 3;

	private static final int CONSUMERS = 2;

	/** Effects after which both are in the middle of their work. */
	private static final int ENOUGH = 40;

	private static final long STORE_AWAY_MILLIS = 3_000;

	/** Longer than the session of a consumer, shorter than its lease. */
	private static final long STANDSTILL_MILLIS = 4_500;

	private final DeliveryKind kind;

	private final Path directory;

	private final Random random;

	private final RedisServer store = RedisServer.startDurable(RedisBinary.REDIS_7_4);

	private final WorkerBroker broker;

	private final List<ServerProcess> consumers = new ArrayList<>();

	private int started;

	DeliveryRun(DeliveryKind kind, Path directory, Random random) {
		this.kind = kind;
		this.directory = directory;
		this.random = random;
		this.broker = kind.broker();
	}

	/** The effects, in their order. */
	List<String> effects() {
		return DeliveryTask.lines(DeliveryTask.effects(this.directory));
	}

	/** The effects of the listener without a guard. */
	List<String> control() {
		return DeliveryTask.lines(DeliveryTask.control(this.directory));
	}

	/**
	 * Delivers, and ends when nothing waits any more: each message was sent once more at
	 * the end, so no key is held.
	 */
	void deliver(int messages) throws Exception {
		for (int i = 0; i < CONSUMERS; i++) {
			this.consumers.add(start());
		}
		List<DeliveryFault> faults = new ArrayList<>(List.of(DeliveryFault.values()));
		faults.add(DeliveryFault.KILL);
		Collections.shuffle(faults, this.random);
		List<List<String>> portions = portions(messages, faults.size());
		for (int i = 0; i < faults.size(); i++) {
			await("the consumers; they log to " + this.directory).atMost(PATIENCE)
				.until(() -> this.broker.isConsumedBy(CONSUMERS));
			int before = progress();
			send(portions.get(i));
			await("some progress before " + faults.get(i)).atMost(PATIENCE).until(() -> progress() > before + ENOUGH);
			inflict(faults.get(i));
		}
		send(names(messages));
		await("the end; the consumers log to " + this.directory).atMost(PATIENCE).until(this.broker::isDrained);
		for (ServerProcess consumer : this.consumers) {
			consumer.terminate();
			await("the end of a consumer").atMost(PATIENCE).until(consumer::hasEnded);
		}
	}

	private int progress() {
		return control().size() + effects().size();
	}

	private void inflict(DeliveryFault fault) {
		int victim = this.random.nextInt(CONSUMERS);
		switch (fault) {
			case KILL -> {
				this.consumers.get(victim).kill();
				this.consumers.set(victim, start());
			}
			case STOP -> {
				ServerProcess consumer = this.consumers.get(victim);
				consumer.terminate();
				await("the end of a consumer").atMost(PATIENCE).until(consumer::hasEnded);
				consumer.close();
				this.consumers.set(victim, start());
			}
			case STAND_STILL -> {
				this.consumers.get(victim).pause();
				pause(STANDSTILL_MILLIS);
				this.consumers.get(victim).resume();
			}
			case KILL_STORE -> {
				this.store.kill();
				pause(STORE_AWAY_MILLIS);
				this.store.restart();
			}
			case STORE_STANDS_STILL -> {
				this.store.pause();
				pause(STORE_AWAY_MILLIS);
				this.store.resume();
			}
		}
	}

	private static void pause(long millis) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		for (long rest = end - System.nanoTime(); rest > 0; rest = end - System.nanoTime()) {
			LockSupport.parkNanos(rest);
		}
	}

	private void send(List<String> portion) {
		this.broker.send(this.broker.queue(), portion);
		this.broker.send(this.broker.keptQueue(), portion);
	}

	/** Each message three times in any order, in so many portions. */
	private List<List<String>> portions(int messages, int count) {
		List<String> deliveries = new ArrayList<>();
		for (int i = 0; i < DELIVERIES; i++) {
			deliveries.addAll(names(messages));
		}
		Collections.shuffle(deliveries, this.random);
		return IntStream.range(0, count)
			.mapToObj((i) -> deliveries.subList(deliveries.size() * i / count, deliveries.size() * (i + 1) / count))
			.toList();
	}

	static List<String> names(int messages) {
		return IntStream.range(0, messages).mapToObj((i) -> "message-" + i).toList();
	}

	private ServerProcess start() {
		this.started++;
		List<String> arguments = new ArrayList<>(List.of("--test.queue=" + this.broker.queue(),
				"--test.kind=" + this.kind, "--test.directory=" + this.directory, "--spring.main.banner-mode=off",
				"--idempotency.store=redis", "--idempotency.store-timeout=2s", "--spring.data.redis.host=127.0.0.1",
				"--spring.data.redis.port=" + this.store.port(), "--spring.data.redis.timeout=800ms",
				"--spring.data.redis.connect-timeout=800ms", "--spring.data.redis.repositories.enabled=false"));
		this.broker.properties().forEach((property) -> arguments.add("--" + property));
		return ServerProcess.start(OtherJvm.command(this.broker.consumer(), arguments),
				this.directory.resolve("consumer-" + this.started + ".log"));
	}

	@Override
	public void close() {
		this.consumers.forEach(ServerProcess::close);
		this.broker.close();
		this.store.close();
	}

}
