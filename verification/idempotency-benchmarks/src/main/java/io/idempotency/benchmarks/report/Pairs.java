package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.benchmarks.report.Figure.Measured.Latency;

/**
 * Measures a figure: its two variants take turns, so that a machine that gets slower
 * slows down both; what counts are the ratios of the turns. A pair of turns does not
 * count where the host of a virtual machine has taken more than a part of the processors
 * away from it.
 */
final class Pairs {

	/** So many times more pairs than count are tried; then all count. */
	private static final int MOST_IGNORED = 1;

	private final Settings settings;

	Pairs(Settings settings) {
		this.settings = settings;
	}

	Figure.Measured measure(Figure figure, LoadedServer measuredServer, LoadedServer baseServer) throws IOException {
		List<Double> rates = new ArrayList<>();
		List<Double> costs = new ArrayList<>();
		List<Double> bytes = new ArrayList<>();
		List<Double> medians = new ArrayList<>();
		List<Double> slow = new ArrayList<>();
		int rounds = figure.close() ? this.settings.manyRounds() : this.settings.rounds();
		int ignored = 0;
		while (rates.size() < rounds) {
			Machine.StolenTime before = Machine.StolenTime.now();
			LoadedServer.Turn base = baseServer.run(figure.base(), this.settings.millis());
			LoadedServer.Turn measured = measuredServer.run(figure.measured(), this.settings.millis());
			if (Machine.StolenTime.now().since(before) > this.settings.stolen() && ignored < rounds * MOST_IGNORED) {
				ignored++;
				continue;
			}
			rates.add(measured.rate() / base.rate());
			costs.add(measured.cost() / base.cost());
			bytes.add(measured.bytes() - base.bytes());
			medians.add(measured.median());
			slow.add(measured.slow());
		}
		return new Figure.Measured(figure, Spread.of(rates), Spread.of(costs), Spread.of(bytes),
				new Latency(Spread.of(medians).median(), Spread.of(slow).median()), rates.size(), ignored);
	}

}
