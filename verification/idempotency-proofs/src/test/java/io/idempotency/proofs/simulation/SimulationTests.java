package io.idempotency.proofs.simulation;

import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.idempotency.IdempotencyOptions;
import io.idempotency.StoreFailureMode;
import io.idempotency.key.Caller;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.key.IdempotencyKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * "No key runs twice" for many seeds, which may take long. {@code -Dsimulation.seeds=}
 * says how many, {@code -Dsimulation.first=} where to begin, and
 * {@code -Dsimulation.seed=} repeats one.
 */
@Timeout(value = 12, unit = TimeUnit.HOURS)
@StoreAlone
class SimulationTests {

	private static final Logger logger = LoggerFactory.getLogger(SimulationTests.class);

	private final WarningCount log = new WarningCount();

	@AfterEach
	void closeLog() {
		this.log.close();
	}

	@ParameterizedTest
	@EnumSource
	void everyRuleHoldsForEverySeed(Driver driver) {
		Long only = Long.getLong("simulation.seed");
		int seeds = (only != null) ? 1 : Integer.getInteger("simulation.seeds", usualSeeds(driver));
		long first = (only != null) ? only : Long.getLong("simulation.first", 1);
		Map<Fault, Integer> faults = new EnumMap<>(Fault.class);
		long steps = 0;
		long calls = 0;
		long began = System.nanoTime();
		for (long seed = first; seed < first + seeds; seed++) {
			Simulation.Result result = Simulation.run(Scenario.of(seed), driver, Set.of(), this.log);
			if (result.violation() != null) {
				fail(new Shrinking(seed, driver, this.log).report());
			}
			steps += result.steps();
			calls += result.calls();
			result.faults().forEach((fault, count) -> faults.merge(fault, count, Integer::sum));
		}
		assertThat(calls).isPositive();
		logger.info("{}: {} seeds, {} calls, {} steps, {} s, faults {}", driver, seeds, calls, steps,
				Duration.ofNanos(System.nanoTime() - began).toSeconds(), faults);
	}

	/**
	 * A call lives on without its record, which the store has lost, while the owner of
	 * another request with its key dies and the next one gives the key back: the late
	 * result belongs to no caller of that request. Chance makes this history too seldom.
	 */
	@ParameterizedTest
	@EnumSource
	void lateResultAnswersNoOtherRequest(Driver driver) {
		long ms = TimeUnit.MILLISECONDS.toNanos(1);
		IdempotencyOptions options = IdempotencyOptions.DEFAULTS.change()
			.operation("operation-0")
			.lease(Duration.ofSeconds(2))
			.build();
		KeyPlan key = new KeyPlan(IdempotencyKey.of("operation-0", Caller.GLOBAL, "key"), options);
		for (long seed = 1; seed <= 200; seed++) {
			Chance chance = new Chance(seed);
			long lost = chance.between(200 * ms, 900 * ms, "lost");
			Call late = new Call(0, key, 0, Call.Work.RETURNS, 6000 * ms, 0, 1, 20_000 * ms);
			Call dying = new Call(1, key, lost + 100 * ms, Call.Work.FAILS, 500 * ms, 1, 20,
					chance.between(300 * ms, 900 * ms, "patience"));
			List<Scenario.Disturbance> events = List.of(new Scenario.Disturbance(Fault.RECORD_LOST, 0, lost, 0, true),
					new Scenario.Disturbance(Fault.CRASH, 1, lost + 300 * ms, 0, false));
			Scenario scenario = new Scenario(chance, 3, List.of(late, dying), events, Set.of(), 0, 0.25);
			Simulation.Result result = Simulation.run(scenario, driver, Set.of(), this.log);
			assertThat(result.violation()).as("seed %d, %s", seed, result.history()).isNull();
		}
	}

	/**
	 * A call whose claim got no answer, and was granted on an abandoned record, runs
	 * unguarded and gives that claim back: it is no owner, and what comes next takes over
	 * nothing from it. Chance makes this history too seldom, too.
	 */
	@ParameterizedTest
	@EnumSource
	void callThatRunsUnguardedOwnsNothing(Driver driver) {
		long ms = TimeUnit.MILLISECONDS.toNanos(1);
		IdempotencyOptions options = IdempotencyOptions.DEFAULTS.change()
			.operation("operation-0")
			.lease(Duration.ofSeconds(2))
			.onStoreFailure(StoreFailureMode.PROCEED)
			.build();
		KeyPlan key = new KeyPlan(IdempotencyKey.of("operation-0", Caller.GLOBAL, "key"), options);
		for (long seed = 1; seed <= 200; seed++) {
			Call abandoned = new Call(0, key, 0, Call.Work.GIVEN_UP, 100 * ms, 0, 1, 20_000 * ms);
			Call unguarded = new Call(1, key, 3000 * ms, Call.Work.RETURNS, 40 * ms, 0, 1, 20_000 * ms);
			Call next = new Call(2, key, 6000 * ms, Call.Work.RETURNS, 40 * ms, 0, 1, 20_000 * ms);
			Scenario scenario = new Scenario(new Chance(seed), 2, List.of(abandoned, unguarded, next), List.of(),
					Set.of(Fault.REPLY_LOST), 0.3, 0.25);
			Simulation.Result result = Simulation.run(scenario, driver, Set.of(), this.log);
			assertThat(result.violation()).as("seed %d, %s", seed, result.history()).isNull();
		}
	}

	@ParameterizedTest
	@EnumSource
	void oneSeedAlwaysMakesTheSameHistory(Driver driver) {
		Set<Integer> histories = new HashSet<>();
		for (long seed = 1; seed <= 200; seed++) {
			Simulation.Result once = Simulation.run(Scenario.of(seed), driver, Set.of(), this.log);
			Simulation.Result again = Simulation.run(Scenario.of(seed), driver, Set.of(), this.log);
			assertThat(again.history()).as("seed %d", seed).isEqualTo(once.history());
			histories.add(once.history().hashCode());
		}
		assertThat(histories).hasSizeGreaterThan(190);
	}

	private static int usualSeeds(Driver driver) {
		return (driver == Driver.BLOCKING) ? 10_000 : 2_500;
	}

}
