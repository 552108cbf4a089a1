package io.idempotency.benchmarks.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures what the guard costs a whole request: one server, one client, in processes of
 * their own, or two of each where the variants are no two endpoints. The two variants of
 * a figure take turns, so that a machine that gets slower slows down both; the figure is
 * the median of the ratios of the turns. Beside the rate stand the processor time that
 * the server takes for a request and the bytes that it allocates beyond the other
 * variant. A pair of turns does not count where the host of a virtual machine has taken
 * more than a part of the processors away from it.
 */
final class EndToEnd {

	/** The profile of an application that keeps metrics, and the name of its figures. */
	static final String OBSERVED = "observed";

	/** The name of the figure of an endpoint that has nothing to do with the guard. */
	static final String UNTOUCHED = "untouched";

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
	 * @param args {@code memory}, {@code redis}, {@code jdbc}, {@code observed} for what
	 * metrics cost with {@code memory}, or {@code untouched} for what the starter costs
	 * an endpoint without the annotation; and further arguments of the application, such
	 * as where the server is
	 */
	public static void main(String[] args) throws IOException {
		new EndToEnd().measure(args[0], List.of(args).subList(1, args.length));
	}

	private void measure(String store, List<String> arguments) throws IOException {
		List<String> base = new ArrayList<>(arguments);
		List<String> measured = new ArrayList<>(arguments);
		switch (store) {
			case OBSERVED -> {
				base.add("--idempotency.store=memory");
				measured.addAll(List.of("--idempotency.store=memory", "--spring.profiles.active=" + OBSERVED));
				measureTwo(store, measured, base);
			}
			case UNTOUCHED -> {
				base.add("--idempotency.enabled=false");
				measured.add("--idempotency.store=memory");
				measureTwo(store, measured, base);
			}
			default -> {
				base.add("--idempotency.store=" + store);
				try (LoadedServer server = start(base)) {
					printAll(store, server, server);
				}
			}
		}
	}

	private void measureTwo(String store, List<String> measuredArguments, List<String> baseArguments)
			throws IOException {
		try (LoadedServer base = start(baseArguments); LoadedServer measured = start(measuredArguments)) {
			printAll(store, measured, base);
		}
	}

	private LoadedServer start(List<String> arguments) throws IOException {
		return LoadedServer.start(arguments, CONNECTIONS, this.bodySize);
	}

	private void printAll(String store, LoadedServer measured, LoadedServer base) throws IOException {
		System.out.println("| " + store
				+ " | requests a second | processor time of the server | bytes beyond it | pairs (not counted) |");
		System.out.println("|---|---|---|---|---|");
		for (Figure figure : Figure.of(store)) {
			print(figure, measured, base);
		}
	}

	private void print(Figure figure, LoadedServer measuredServer, LoadedServer baseServer) throws IOException {
		measuredServer.run(figure.measured(), this.warmUpMillis);
		baseServer.run(figure.base(), this.warmUpMillis);
		List<Double> rates = new ArrayList<>();
		List<Double> costs = new ArrayList<>();
		List<Double> bytes = new ArrayList<>();
		int ignored = 0;
		while (rates.size() < this.rounds) {
			StolenTime before = StolenTime.now();
			LoadedServer.Turn base = baseServer.run(figure.base(), this.millis);
			LoadedServer.Turn measured = measuredServer.run(figure.measured(), this.millis);
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

}
