package io.idempotency.proofs.simulation;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Leaves out whatever a failing scenario does not need to fail. */
final class Shrinking {

	private final long seed;

	private final Driver driver;

	private final WarningCount log;

	private final Set<String> spared = new HashSet<>();

	private Scenario scenario;

	private Simulation.Result result;

	Shrinking(long seed, Driver driver, WarningCount log) {
		this.seed = seed;
		this.driver = driver;
		this.log = log;
		this.scenario = Scenario.of(seed);
		this.result = Simulation.run(this.scenario, driver, this.spared, log);
		shrink();
	}

	private void shrink() {
		boolean shrunk = true;
		while (shrunk) {
			shrunk = false;
			for (Call call : List.copyOf(this.scenario.calls())) {
				shrunk |= fails(this.scenario.without(call), this.spared);
			}
			for (Scenario.Disturbance event : List.copyOf(this.scenario.events())) {
				shrunk |= fails(this.scenario.without(event), this.spared);
			}
			for (String fault : List.copyOf(this.result.messages().keySet())) {
				Set<String> more = new HashSet<>(this.spared);
				more.add(fault);
				if (fails(this.scenario, more)) {
					this.spared.add(fault);
					shrunk = true;
				}
			}
		}
	}

	private boolean fails(Scenario smaller, Set<String> without) {
		Simulation.Result tried = Simulation.run(smaller, this.driver, without, this.log);
		if (tried.violation() == null) {
			return false;
		}
		this.scenario = smaller;
		this.result = tried;
		return true;
	}

	String report() {
		return String.join("\n", "Seed " + this.seed + ", driver " + this.driver + ": " + this.result.violation(),
				"Repeat it with -Dsimulation.seed=" + this.seed + ". What is left after shrinking:",
				this.scenario.calls() + " " + this.scenario.events() + " " + this.result.messages().values(),
				String.join("\n", this.result.history()));
	}

}
