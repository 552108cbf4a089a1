package io.idempotency.benchmarks.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures what the guard adds to the start of an application, by processes that start in
 * turn: one with the guard and one with {@code idempotency.enabled=false}. The time is
 * that from the start of the process until the server listens.
 */
final class StartUp {

	private StartUp() {
	}

	/**
	 * Prints the median of the ratios.
	 * @param args further arguments of both applications
	 */
	public static void main(String[] args) throws IOException {
		int rounds = Integer.getInteger("rounds", 11);
		List<Double> ratios = new ArrayList<>();
		for (int round = -1; round < rounds; round++) {
			double without = start("--idempotency.enabled=false", args);
			double with = start("--idempotency.store=memory", args);
			if (round >= 0) {
				ratios.add(with / without);
			}
			System.out.printf(Locale.ROOT, "with %.0f ms, without %.0f ms%n", with / 1e6, without / 1e6);
		}
		ratios.sort(null);
		System.out.printf(Locale.ROOT, "start-up with the guard ÷ without: %.2f (%.2f to %.2f)%n",
				ratios.get(ratios.size() / 2), ratios.get(0), ratios.get(ratios.size() - 1));
	}

	private static double start(String mode, String[] more) throws IOException {
		List<String> arguments = new ArrayList<>(List.of(more));
		arguments.add(mode);
		long start = System.nanoTime();
		try (OtherProcess server = OtherProcess.java(LoadApplication.class, arguments)) {
			server.lineWith("port ");
			return System.nanoTime() - start;
		}
	}

}
