package io.idempotency.engine.simulation;

import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * "No key runs twice" for many seeds, which may take long. {@code -Dsimulation.seeds=}
 * says how many, and {@code -Dsimulation.seed=} repeats one.
 */
@Timeout(value = 12, unit = TimeUnit.HOURS)
class SimulationTests {

	private static final Logger logger = LoggerFactory.getLogger(SimulationTests.class);

	private final WarningCount log = new WarningCount();

	@AfterEach
	void closeLog() {
		this.log.close();
	}

	@Test
	void everyRuleHoldsForEverySeed() {
		Long only = Long.getLong("simulation.seed");
		int seeds = (only != null) ? 1 : Integer.getInteger("simulation.seeds", 10_000);
		long first = (only != null) ? only : 1;
		Map<Fault, Integer> faults = new EnumMap<>(Fault.class);
		long steps = 0;
		long calls = 0;
		long began = System.nanoTime();
		for (long seed = first; seed < first + seeds; seed++) {
			Simulation.Result result = Simulation.run(Scenario.of(seed), Set.of(), this.log);
			if (result.violation() != null) {
				fail(new Shrinking(seed, this.log).report());
			}
			steps += result.steps();
			calls += result.calls();
			result.faults().forEach((fault, count) -> faults.merge(fault, count, Integer::sum));
		}
		assertThat(calls).isPositive();
		logger.info("{} seeds, {} calls, {} steps, {} s, faults {}", seeds, calls, steps,
				Duration.ofNanos(System.nanoTime() - began).toSeconds(), faults);
	}

	@Test
	void oneSeedAlwaysMakesTheSameHistory() {
		Set<Integer> histories = new HashSet<>();
		for (long seed = 1; seed <= 200; seed++) {
			Simulation.Result once = Simulation.run(Scenario.of(seed), Set.of(), this.log);
			Simulation.Result again = Simulation.run(Scenario.of(seed), Set.of(), this.log);
			assertThat(again.history()).as("seed %d", seed).isEqualTo(once.history());
			histories.add(once.history().hashCode());
		}
		assertThat(histories).hasSizeGreaterThan(190);
	}

}
