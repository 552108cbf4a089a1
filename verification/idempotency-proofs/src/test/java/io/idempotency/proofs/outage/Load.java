package io.idempotency.proofs.outage;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;

/**
 * A few clients that call at a constant rate, as long as they are answered in time. One
 * call of three repeats an earlier one.
 */
final class Load implements AutoCloseable {

	static final int CLIENTS = 8;

	private static final long PERIOD = TimeUnit.MILLISECONDS.toNanos(40);

	private final Client client;

	/** Of the last key. */
	private final AtomicInteger number = new AtomicInteger();

	private final AtomicLong longest = new AtomicLong();

	private final List<Throwable> failures = new CopyOnWriteArrayList<>();

	private final List<Thread> threads;

	private volatile boolean over;

	/** Since the last look. */
	private volatile Map<String, Integer> answers = new ConcurrentHashMap<>();

	final Map<String, Integer> all = new ConcurrentSkipListMap<>();

	Load(int port) {
		this.client = new Client(port);
		this.threads = IntStream.range(0, CLIENTS)
			.mapToObj((index) -> new Thread(() -> call(new Random(index)), "client-" + index))
			.toList();
		this.threads.forEach(Thread::start);
	}

	private void call(Random random) {
		long next = System.nanoTime();
		while (!this.over) {
			try {
				call(key(random));
			}
			catch (Throwable ex) {
				this.failures.add(ex);
				return;
			}
			next = Math.max(next + PERIOD, System.nanoTime() - PERIOD);
			LockSupport.parkNanos(next - System.nanoTime());
		}
	}

	private String key(Random random) {
		boolean again = random.nextInt(3) == 0;
		int last = again ? this.number.get() : this.number.incrementAndGet();
		return "order-" + (again ? Math.max(1, last - random.nextInt(500)) : last);
	}

	private void call(String key) {
		long sent = System.nanoTime();
		Answer answer = this.client.post("/orders", key);
		this.longest.accumulateAndGet(System.nanoTime() - sent, Math::max);
		String kind = (answer.status() != 200) ? Integer.toString(answer.status())
				: answer.replayed() ? "replayed" : "200";
		this.answers.merge(kind, 1, Integer::sum);
		this.all.merge(kind, 1, Integer::sum);
	}

	/** Returns the answers since the last look. */
	synchronized Map<String, Integer> look() {
		Map<String, Integer> seen = this.answers;
		this.answers = new ConcurrentHashMap<>();
		return seen;
	}

	/** Returns how long the longest call since the last time took, in milliseconds. */
	long longest() {
		return TimeUnit.NANOSECONDS.toMillis(this.longest.getAndSet(0));
	}

	List<Throwable> failures() {
		return this.failures;
	}

	@Override
	public void close() throws InterruptedException {
		this.over = true;
		for (Thread thread : this.threads) {
			thread.join();
		}
	}

}
