package io.idempotency.benchmarks.report;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * Sends requests as fast as the answers come, on connections that stay open. Reads one
 * order for each line of its input, {@code path keys millis connections}, and answers
 * each with the number of requests, the nanoseconds they took together, their median and
 * their 99th percentile. Not a library, because those take more of the two processors
 * than the server that is measured.
 */
final class LoadClient {

	private final List<LoadConnection> connections;

	private final ExecutorService threads;

	private LoadClient(List<LoadConnection> connections) {
		this.connections = connections;
		this.threads = Executors.newFixedThreadPool(connections.size());
	}

	/**
	 * Runs until its input ends.
	 * @param args the port, the number of connections and how many bytes a body has
	 */
	public static void main(String[] args) throws Exception {
		List<LoadConnection> connections = new ArrayList<>();
		for (int i = 0; i < Integer.parseInt(args[1]); i++) {
			connections.add(new LoadConnection(Integer.parseInt(args[0]), Integer.parseInt(args[2])));
		}
		LoadClient client = new LoadClient(connections);
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
		try {
			for (String line = orders.readLine(); line != null; line = orders.readLine()) {
				String[] order = line.split(" ");
				System.out.println(client.run(order[0], KeyChoice.valueOf(order[1]), Long.parseLong(order[2]),
						Integer.parseInt(order[3])));
			}
		}
		finally {
			// Without them this process ends, which the one that waits for its answer
			// notices.
			client.threads.shutdownNow();
		}
	}

	private String run(String path, KeyChoice keys, long millis, int count) throws Exception {
		List<LoadConnection> senders = this.connections.subList(0, count);
		LoadConnection first = senders.get(0);
		String key = keys.next(first, path);
		if (keys == KeyChoice.RUNNING) {
			return runBeside(senders, path, key, millis);
		}
		// One at first, which does not count: duplicates of a key that is not there yet
		// would be rejected.
		if (keys == KeyChoice.REJECTED) {
			first.isRejected(path, key);
			return times(senders, (connection) -> connection.sendRejected(path, key), millis);
		}
		first.send(path, key);
		return times(senders, (connection) -> connection.send(path, keys.next(connection, path)), millis);
	}

	/** All others send duplicates of a call of the first, which ends after them. */
	private String runBeside(List<LoadConnection> senders, String path, String key, long millis) throws Exception {
		LoadConnection first = senders.get(0);
		List<LoadConnection> others = senders.subList(1, senders.size());
		Future<?> running = this.threads.submit(() -> {
			first.send(path, key);
			return null;
		});
		others.get(0).send("GET/begun", key);
		String times = times(others, (connection) -> connection.sendRejected(path, key), millis);
		others.get(0).send("GET/end", key);
		running.get();
		return times;
	}

	private String times(List<LoadConnection> senders, Request request, long millis) throws Exception {
		long begin = System.nanoTime();
		long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
		List<Future<long[]>> times = new ArrayList<>();
		for (LoadConnection connection : senders) {
			times.add(this.threads.submit(() -> send(connection, request, end)));
		}
		LongStream all = LongStream.empty();
		for (Future<long[]> some : times) {
			all = LongStream.concat(all, LongStream.of(some.get()));
		}
		long took = System.nanoTime() - begin;
		long[] sorted = all.sorted().toArray();
		return sorted.length + " " + took + " " + sorted[sorted.length / 2] + " " + sorted[sorted.length * 99 / 100];
	}

	private static long[] send(LoadConnection connection, Request request, long end) throws IOException {
		LongStream.Builder times = LongStream.builder();
		long now = System.nanoTime();
		// At least once: on a busy machine the turn may be over before it begins.
		do {
			request.send(connection);
			long answered = System.nanoTime();
			times.add(answered - now);
			now = answered;
		}
		while (now < end);
		return times.build().toArray();
	}

	@FunctionalInterface
	private interface Request {

		void send(LoadConnection connection) throws IOException;

	}

	/** Which keys requests have. */
	enum KeyChoice {

		/** Each request its own. */
		FRESH {

			@Override
			String next(LoadConnection connection, String path) {
				return random();
			}

		},

		/** All requests of a connection the same one. */
		REPLAY {

			@Override
			String next(LoadConnection connection, String path) {
				return connection.ownKey() + path.substring(1);
			}

		},

		/** Two of five requests repeat the one before. */
		DUPLICATES {

			@Override
			String next(LoadConnection connection, String path) {
				String last = connection.lastKey();
				return (last != null && ThreadLocalRandom.current().nextInt(5) < 2) ? last : random();
			}

		},

		/** All requests of all connections the same one. */
		HOT {

			@Override
			String next(LoadConnection connection, String path) {
				return PROCESS + path.substring(1);
			}

		},

		/** The same, and each but the first is rejected. */
		REJECTED {

			@Override
			String next(LoadConnection connection, String path) {
				return HOT.next(connection, path);
			}

		},

		/** That of a call that runs, so that each is rejected. */
		RUNNING {

			@Override
			String next(LoadConnection connection, String path) {
				return random();
			}

		};

		private static final String PROCESS = random();

		abstract String next(LoadConnection connection, String path);

		private static String random() {
			ThreadLocalRandom random = ThreadLocalRandom.current();
			return new UUID(random.nextLong(), random.nextLong()).toString();
		}

	}

}
