package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.idempotency.it.servers.OtherJvm;

/**
 * Many duplicates of one call that wait on one node for its answer: what they ask of the
 * store meanwhile, and how long after the first answer they have theirs.
 */
final class WaitingDuplicates implements Page.Section {

	private static final int DUPLICATES = 200;

	/** The place of the 99th percentile. */
	private static final int LATE = DUPLICATES * 99 / 100 - 1;

	private static final int ROUNDS = 3;

	private static final int WARM_UPS = 10;

	/** How long the first call runs: longer than everything that is waited for here. */
	private static final long RUN_MILLIS = 5000;

	/** After which all of them wait. */
	private static final long GATHER_MILLIS = 1500;

	private static final long COUNT_MILLIS = 3000;

	private final StoreServers servers;

	WaitingDuplicates(StoreServers servers) {
		this.servers = servers;
	}

	@Override
	public void into(Page page) throws Exception {
		List<Double> calls = new ArrayList<>();
		List<Double> late = new ArrayList<>();
		ExecutorService threads = Executors.newFixedThreadPool(DUPLICATES + 2);
		try (RunningApplication application = RunningApplication.start(Jdk.current(), OtherJvm.Stack.SERVLET,
				arguments())) {
			List<LoadConnection> connections = connect(application.port());
			for (int i = 0; i < WARM_UPS; i++) {
				late(connections, threads, 200);
			}
			for (int i = 0; i < ROUNDS; i++) {
				Future<Double> end = threads.submit(() -> late(connections, threads, RUN_MILLIS));
				Thread.sleep(GATHER_MILLIS);
				RedisCost.CommandStats before = RedisCost.CommandStats.of(this.servers.redis());
				Thread.sleep(COUNT_MILLIS);
				RedisCost.CommandStats done = RedisCost.CommandStats.of(this.servers.redis()).since(before);
				calls.add(done.sent().calls() * 1000.0 / COUNT_MILLIS);
				late.add(end.get());
			}
		}
		finally {
			threads.shutdownNow();
		}
		write(page, Spread.of(calls), Spread.of(late));
	}

	private List<String> arguments() throws IOException {
		return Stream
			.concat(this.servers.redis(0).stream(), Stream.of("--idempotency.max-waiters=" + DUPLICATES,
					"--idempotency.wait-timeout=30s", "--server.tomcat.threads.max=" + 2 * DUPLICATES))
			.toList();
	}

	/** The first one is that of the first call. */
	private static List<LoadConnection> connect(int port) throws IOException {
		List<LoadConnection> connections = new ArrayList<>();
		for (int i = 0; i <= DUPLICATES; i++) {
			connections.add(new LoadConnection(port, Settings.BODY));
		}
		return connections;
	}

	/** The milliseconds from the first answer to the 99th percentile of the others. */
	private static double late(List<LoadConnection> connections, ExecutorService threads, long runMillis)
			throws InterruptedException, ExecutionException {
		String path = "/slow?millis=" + runMillis;
		String key = UUID.randomUUID().toString();
		Future<Long> first = threads.submit(() -> end(connections.get(0), path, key));
		Thread.sleep(runMillis / 4);
		List<Future<Long>> duplicates = connections.stream()
			.skip(1)
			.map((connection) -> threads.submit(() -> end(connection, path, key)))
			.toList();
		List<Double> delays = new ArrayList<>();
		for (Future<Long> duplicate : duplicates) {
			delays.add((duplicate.get() - first.get()) / 1e6);
		}
		delays.sort(null);
		return delays.get(LATE);
	}

	private static long end(LoadConnection connection, String path, String key) throws IOException {
		connection.send(path, key);
		return System.nanoTime();
	}

	private static void write(Page page, Spread calls, Spread late) {
		page.judge(Goal.atMost(DUPLICATES + " duplicates of one key waiting on one node, Redis: store calls a second",
				5, ""), calls.median());
		page.judge(Goal.atMost(
				DUPLICATES
						+ " duplicates of one key waiting on one node, Redis: p99 of the answer after the first one's",
				50, " ms"), late.median());
		page.table("Waiting duplicates",
				DUPLICATES + " duplicates of a call of " + RUN_MILLIS / 1000 + " s wait on one node, with Redis; "
						+ ROUNDS + " times.",
				List.of("", "median (least to most)"),
				List.of(List.of("store calls a second, of all together, with the renewals of the first call", calls),
						List.of("99th percentile of the answers after the first one's, ms", late)));
	}

}
