package io.idempotency.benchmarks.load;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures what the guard costs a whole request: one server, one client, in processes of
 * their own. The two variants of a figure take turns, so that a machine that gets slower
 * slows down both; the figure is the median of the ratios of the turns. Beside the rate
 * stand the processor time that the server takes for a request and the bytes that it
 * allocates beyond the other variant. A pair of turns does not count where the host of a
 * virtual machine has taken more than a part of the processors away from it.
 */
final class EndToEnd {

	private static final int CONNECTIONS = 16;

	/** So many times the pairs that count are tried; then all count. */
	private static final int MOST_IGNORED = 5;

	private final int rounds = Integer.getInteger("rounds", 7);

	private final long millis = Long.getLong("millis", 2000);

	private final long warmUpMillis = Long.getLong("warm-up", 8000);

	/**
	 * The part of the processors that others may take from a pair of turns that counts.
	 */
	private final double stolen = Double.parseDouble(System.getProperty("stolen", "0.1"));

	private final String bodySize = System.getProperty("body", "250");

	private EndToEnd() {
	}

	/**
	 * Measures the figures of one store.
	 * @param args {@code memory}, {@code redis} or {@code jdbc}, and further arguments of
	 * the application, such as where the server is
	 */
	public static void main(String[] args) throws IOException {
		new EndToEnd().measure(args[0], List.of(args).subList(1, args.length));
	}

	private void measure(String store, List<String> arguments) throws IOException {
		List<String> application = new ArrayList<>(arguments);
		application.add("--idempotency.store=" + store);
		try (OtherProcess server = OtherProcess.java(LoadApplication.class, application)) {
			String port = server.lineWith("port ").substring("port ".length());
			URL meter = URI.create("http://127.0.0.1:" + port + "/meter").toURL();
			try (OtherProcess client = OtherProcess.java(LoadClient.class,
					List.of(port, Integer.toString(CONNECTIONS), this.bodySize))) {
				System.out.println("| " + store
						+ " | requests a second | processor time of the server | bytes beyond it | pairs (not counted) |");
				System.out.println("|---|---|---|---|---|");
				for (Figure figure : Figure.of(store)) {
					print(figure, meter, client);
				}
			}
		}
	}

	private void print(Figure figure, URL meter, OtherProcess client) throws IOException {
		run(meter, client, figure.measured(), this.warmUpMillis);
		run(meter, client, figure.base(), this.warmUpMillis);
		List<Double> rates = new ArrayList<>();
		List<Double> costs = new ArrayList<>();
		List<Double> bytes = new ArrayList<>();
		int ignored = 0;
		while (rates.size() < this.rounds) {
			StolenTime before = StolenTime.now();
			Turn base = run(meter, client, figure.base(), this.millis);
			Turn measured = run(meter, client, figure.measured(), this.millis);
			if (StolenTime.now().since(before) > this.stolen && ignored < this.rounds * MOST_IGNORED) {
				ignored++;
				continue;
			}
			rates.add(measured.rate() / base.rate());
			costs.add(measured.cost() / base.cost());
			bytes.add(measured.bytes() - base.bytes());
		}
		bytes.sort(null);
		System.out.println("| " + figure.name() + " | " + median(rates) + " | " + median(costs) + " | "
				+ Math.round(bytes.get(bytes.size() / 2)) + " | " + rates.size() + " (" + ignored + ") |");
	}

	/** With the least and the most of them. */
	private static String median(List<Double> ratios) {
		ratios.sort(null);
		return String.format(Locale.ROOT, "%.2f (%.2f to %.2f)", ratios.get(ratios.size() / 2), ratios.get(0),
				ratios.get(ratios.size() - 1));
	}

	private static Turn run(URL meter, OtherProcess client, String order, long millis) throws IOException {
		long[] before = read(meter);
		client.send(order + " " + millis);
		String[] answer = client.line().split(" ");
		long[] after = read(meter);
		double requests = Double.parseDouble(answer[0]);
		return new Turn(requests / Double.parseDouble(answer[1]), (after[0] - before[0]) / requests,
				(after[1] - before[1]) / requests);
	}

	private static long[] read(URL meter) throws IOException {
		try (InputStream in = meter.openStream()) {
			String[] values = new String(in.readAllBytes(), StandardCharsets.US_ASCII).split(" ");
			return new long[] { Long.parseLong(values[0]), Long.parseLong(values[1]) };
		}
	}

	/**
	 * What one variant did in its turn.
	 *
	 * @param rate requests for a unit of time
	 * @param cost the server's processor time for one request
	 * @param bytes what the server allocates for one request
	 */
	private record Turn(double rate, double cost, double bytes) {
	}

}
