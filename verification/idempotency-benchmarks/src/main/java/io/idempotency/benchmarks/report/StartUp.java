package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.it.servers.OtherJvm;

/**
 * What the guard adds to the start of an application, by processes that start in turn:
 * one with the guard and one with {@code idempotency.enabled=false}. The time is that
 * from the start of the process until the server listens.
 */
final class StartUp implements Page.Section {

	private static final Goal GOAL = Goal.atMost("start-up with the starter ÷ without", 1.05, "");

	private final Settings settings;

	StartUp(Settings settings) {
		this.settings = settings;
	}

	@Override
	public void into(Page page) throws IOException {
		List<Double> ratios = new ArrayList<>();
		List<Double> withMillis = new ArrayList<>();
		List<Double> withoutMillis = new ArrayList<>();
		// The first pair reads the class path from the disk.
		for (int round = -1; round < this.settings.manyRounds(); round++) {
			double without = start("--idempotency.enabled=false");
			double with = start("--idempotency.store=memory");
			if (round >= 0) {
				ratios.add(with / without);
				withMillis.add(with);
				withoutMillis.add(without);
			}
		}
		Spread ratio = Spread.of(ratios);
		page.judge(GOAL, ratio.median());
		page.table("Start", "From the start of the process until it listens, " + ratios.size() + " pairs.",
				List.of("", "median (least to most)"),
				List.of(List.of("with the guard on memory ÷ `idempotency.enabled=false`", ratio),
						List.of("with, ms", Spread.of(withMillis).whole()),
						List.of("without, ms", Spread.of(withoutMillis).whole())));
	}

	private static double start(String mode) throws IOException {
		long start = System.nanoTime();
		try (RunningApplication application = RunningApplication.start(Jdk.current(), OtherJvm.Stack.SERVLET,
				List.of(mode))) {
			return (System.nanoTime() - start) / 1e6;
		}
	}

}
