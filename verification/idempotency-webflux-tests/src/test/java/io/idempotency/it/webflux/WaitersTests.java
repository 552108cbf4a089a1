package io.idempotency.it.webflux;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Many duplicates that wait through the door: none of them holds a thread. */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "idempotency.max-waiters=10000")
class WaitersTests {

	private static final Logger logger = LoggerFactory.getLogger(WaitersTests.class);

	private static final int WAITERS = Integer.getInteger("idempotency.tests.waiters", 500);

	private static final int KEYS = 50;

	private static final int MORE_THREADS = 16;

	private static final long MORE_HEAP = 64 << 20;

	/** Enough for a figure where there are enough waiters for one. */
	private static final int OTHERS = WAITERS / 5;

	private static final int PERCENTILE = 99;

	private final String name = UUID.randomUUID().toString();

	@Autowired
	private IdempotencyEngine engine;

	@Value("${local.server.port}")
	private int port;

	@Test
	@Timeout(value = 30, unit = TimeUnit.MINUTES)
	void waitersHoldNoThread() throws Exception {
		// The first ones warm up.
		percentile();
		long alone = percentile();
		long idle = heapOfIdleRequests();
		List<RawClient> owners = new ArrayList<>();
		List<RawClient> waiters = new ArrayList<>();
		try {
			for (int i = 0; i < KEYS; i++) {
				owners.add(send(i));
			}
			for (int i = 0; i < KEYS; i++) {
				String gate = "gate " + this.name + "-" + i;
				await().until(() -> OrdersController.RUNS.containsKey(gate));
			}
			int threads = ManagementFactory.getThreadMXBean().getThreadCount();
			long heap = heap();
			for (int i = 0; i < WAITERS; i++) {
				waiters.add(send(i % KEYS));
			}
			await().until(() -> this.engine.load().waiters() == WAITERS);
			int moreThreads = ManagementFactory.getThreadMXBean().getThreadCount() - threads;
			long moreHeap = heap() - heap;
			logger.info(
					"{} waiters of {} keys: {} more threads, {} KB more heap, of which {} KB for requests that nothing guards; p99 of another endpoint: {} us, alone: {} us",
					WAITERS, KEYS, moreThreads, moreHeap >> 10, idle >> 10, percentile(), alone);
			assertThat(moreThreads).isLessThanOrEqualTo(MORE_THREADS);
			assertThat(moreHeap - idle).isLessThan(MORE_HEAP);
			for (int i = 0; i < KEYS; i++) {
				OrdersController.GATES.get(this.name + "-" + i).tryEmitEmpty();
			}
			for (int i = 0; i < KEYS; i++) {
				assertThat(owners.get(i).head()).contains(" 200 ").doesNotContain("Idempotent-Replayed");
			}
			for (RawClient waiter : waiters) {
				assertThat(waiter.head()).contains(" 200 ").contains("Idempotent-Replayed: true");
			}
			Map<String, Integer> runs = new TreeMap<>();
			OrdersController.RUNS.forEach((gate, count) -> runs.put(gate, count.get()));
			assertThat(runs.entrySet()).filteredOn((run) -> run.getKey().startsWith("gate " + this.name + "-"))
				.hasSize(KEYS)
				.allMatch((run) -> run.getValue() == 1);
		}
		finally {
			for (RawClient client : owners) {
				client.close();
			}
			for (RawClient client : waiters) {
				client.close();
			}
		}
	}

	/** Returns what as many requests cost that wait somewhere else. */
	private long heapOfIdleRequests() throws Exception {
		long heap = heap();
		List<RawClient> idle = new ArrayList<>();
		try {
			for (int i = 0; i < WAITERS; i++) {
				idle.add(new RawClient(this.port).send("/idle", this.name, "X-Gate: " + this.name + "\r\n", 0, ""));
			}
			await().until(() -> OrdersController.RUNS.containsKey("gate " + this.name)
					&& OrdersController.RUNS.get("gate " + this.name).get() == WAITERS);
			return heap() - heap;
		}
		finally {
			for (RawClient client : idle) {
				client.close();
			}
		}
	}

	private RawClient send(int key) throws Exception {
		return new RawClient(this.port).send("/waiting", this.name + "-" + key,
				"X-Gate: " + this.name + "-" + key + "\r\n", 0, "");
	}

	private static long heap() {
		System.gc();
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

	/** Returns how long 99 of 100 calls of another endpoint take, in microseconds. */
	private long percentile() {
		Client client = new Client(this.port);
		long[] nanos = new long[OTHERS];
		for (int i = 0; i < OTHERS; i++) {
			long begun = System.nanoTime();
			assertThat(client.post("/mono", UUID.randomUUID().toString()).status()).isEqualTo(200);
			nanos[i] = System.nanoTime() - begun;
		}
		Arrays.sort(nanos);
		return nanos[OTHERS * PERCENTILE / 100] / 1000;
	}

}
