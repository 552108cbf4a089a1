package io.idempotency.benchmarks.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Sends requests as fast as the answers come, on connections that stay open. Reads one
 * order for each line of its input, {@code path keys millis}, and answers each with the
 * number of requests and the nanoseconds they took. Not a library, because those take
 * more of the two processors than the server that is measured.
 */
final class LoadClient {

	private LoadClient() {
	}

	/**
	 * Runs until its input ends.
	 * @param args the port, the number of connections and how many bytes a body has
	 */
	public static void main(String[] args) throws Exception {
		int connections = Integer.parseInt(args[1]);
		List<LoadConnection> all = new ArrayList<>();
		for (int i = 0; i < connections; i++) {
			all.add(new LoadConnection(Integer.parseInt(args[0]), Integer.parseInt(args[2])));
		}
		ExecutorService threads = Executors.newFixedThreadPool(connections);
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
		for (String line = orders.readLine(); line != null; line = orders.readLine()) {
			String[] order = line.split(" ");
			System.out.println(run(all, threads, order[0], Keys.valueOf(order[1]), Long.parseLong(order[2])));
		}
		threads.shutdownNow();
	}

	private static String run(List<LoadConnection> all, ExecutorService threads, String path, Keys keys, long millis)
			throws Exception {
		long begin = System.nanoTime();
		long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
		List<Future<Long>> counts = new ArrayList<>();
		for (LoadConnection connection : all) {
			counts.add(threads.submit(() -> send(connection, path, keys, end)));
		}
		long sum = 0;
		for (Future<Long> count : counts) {
			sum += count.get();
		}
		return sum + " " + (System.nanoTime() - begin);
	}

	private static long send(LoadConnection connection, String path, Keys keys, long end) throws IOException {
		long count = 0;
		while (System.nanoTime() < end) {
			connection.post(path, keys);
			count++;
		}
		return count;
	}

	/** Which keys requests have. */
	enum Keys {

		/** Each request its own. */
		FRESH,

		/** All requests of a connection the same one. */
		REPLAY

	}

}
