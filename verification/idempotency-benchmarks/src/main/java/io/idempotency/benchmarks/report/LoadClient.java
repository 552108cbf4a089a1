package io.idempotency.benchmarks.report;

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
		for (String line = orders.readLine(); line != null; line = orders.readLine()) {
			String[] order = line.split(" ");
			System.out.println(client.run(order[0], Keys.valueOf(order[1]), Long.parseLong(order[2])));
		}
		client.threads.shutdownNow();
	}

	private String run(String path, Keys keys, long millis) throws Exception {
		long begin = System.nanoTime();
		// One at first: duplicates of a key that is not there yet would be refused.
		this.connections.get(0).post(path, keys.next(this.connections.get(0), path));
		long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
		List<Future<Long>> counts = new ArrayList<>();
		for (LoadConnection connection : this.connections) {
			counts.add(this.threads.submit(() -> send(connection, path, keys, end)));
		}
		long sum = 1;
		for (Future<Long> count : counts) {
			sum += count.get();
		}
		return sum + " " + (System.nanoTime() - begin);
	}

	private static long send(LoadConnection connection, String path, Keys keys, long end) throws IOException {
		long count = 0;
		while (System.nanoTime() < end) {
			connection.post(path, keys.next(connection, path));
			count++;
		}
		return count;
	}

}
