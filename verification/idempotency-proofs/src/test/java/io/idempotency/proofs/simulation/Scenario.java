package io.idempotency.proofs.simulation;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * What happens to a few nodes, made of one seed.
 *
 * @param chance the random numbers of the seed
 * @param nodes the number of nodes
 * @param calls the calls
 * @param events what happens to nodes and to the store
 * @param kinds which faults messages have
 * @param rate how probable a fault of a message is
 * @param timeout how long a node waits for the store, as a part of the lease
 */
record Scenario(Chance chance, int nodes, List<Call> calls, List<Disturbance> events, Set<Fault> kinds, double rate,
		double timeout) {

	private static final Fault[] OF_MESSAGES = { Fault.REQUEST_LOST, Fault.NOT_REACHED, Fault.REPLY_LOST, Fault.SLOW,
			Fault.REPEATED };

	private static final Fault[] OF_NODES = { Fault.PAUSE, Fault.PAUSE, Fault.CRASH, Fault.CLOSE, Fault.CUT,
			Fault.CLOCK_STEP, Fault.NO_THREAD };

	private static final double[] RATES = { 0, 0.03, 0.1, 0.3 };

	static Scenario of(long seed) {
		Chance chance = new Chance(seed);
		int keys = 1 + (int) chance.between(0, 2, "keys");
		List<KeyPlan> plans = new ArrayList<>();
		for (int i = 0; i < keys; i++) {
			plans.add(KeyPlan.of(chance, i));
		}
		boolean loses = chance.hits(0.1, "record lost");
		int number = 2 + (int) chance.between(0, 4, "calls");
		List<Call> calls = new ArrayList<>();
		for (int i = 0; i < number; i++) {
			calls.add(call(chance, i, plans.get((int) chance.between(0, keys, "key", i)), loses ? 0.5 : 0.1));
		}
		Set<Fault> kinds = EnumSet.noneOf(Fault.class);
		for (Fault fault : OF_MESSAGES) {
			if (chance.hits(0.5, "kind", fault.name())) {
				kinds.add(fault);
			}
		}
		int nodes = 2 + (int) chance.between(0, 2, "nodes");
		List<Disturbance> events = new ArrayList<>();
		int many = (int) chance.between(0, 4, "events");
		for (int i = 0; i < many; i++) {
			events.add(event(chance, i, nodes));
		}
		if (loses) {
			events.add(new Disturbance(Fault.RECORD_LOST, 0, chance.between(0, TimeUnit.SECONDS.toNanos(8), "lost at"),
					0, true));
		}
		return new Scenario(chance, nodes, calls, events, kinds, RATES[(int) chance.between(0, 4, "rate")],
				chance.hits(0.7, "timeout") ? 0.25 : 1.5);
	}

	private static Call call(Chance chance, int number, KeyPlan key, double otherVariants) {
		Call.Work[] works = Call.Work.values();
		Call.Work work = chance.hits(0.5, "returns", number) ? Call.Work.RETURNS
				: works[(int) chance.between(0, works.length, "work", number)];
		double leases = chance.hits(0.5, "quick", number) ? 0.02 : 2.5;
		return new Call(number, key, chance.between(0, TimeUnit.SECONDS.toNanos(4), "at", number), work,
				(long) (key.lease() * leases * chance.of("duration", number)),
				chance.hits(otherVariants, "variant", number) ? 1 : 0, 1 + (int) chance.between(0, 4, "tries", number),
				chance.between(200_000_000, 3 * key.lease(), "patience", number));
	}

	private static Disturbance event(Chance chance, int number, int nodes) {
		Fault fault = OF_NODES[(int) chance.between(0, OF_NODES.length, "event", number)];
		return new Disturbance(fault, (int) chance.between(0, nodes, "event node", number),
				chance.between(0, TimeUnit.SECONDS.toNanos(15), "event at", number),
				chance.between(TimeUnit.MILLISECONDS.toNanos(100), TimeUnit.SECONDS.toNanos(12), "event for", number),
				fault == Fault.CUT && chance.hits(0.3, "outage", number));
	}

	Scenario without(Call call) {
		List<Call> fewer = new ArrayList<>(this.calls);
		fewer.remove(call);
		return new Scenario(this.chance, this.nodes, fewer, this.events, this.kinds, this.rate, this.timeout);
	}

	Scenario without(Disturbance event) {
		List<Disturbance> fewer = new ArrayList<>(this.events);
		fewer.remove(event);
		return new Scenario(this.chance, this.nodes, this.calls, fewer, this.kinds, this.rate, this.timeout);
	}

	/**
	 * Something that happens to a node or to the store.
	 *
	 * @param fault what happens
	 * @param node to which node
	 * @param at when
	 * @param lasts how long
	 * @param everywhere whether it happens to all nodes
	 */
	record Disturbance(Fault fault, int node, long at, long lasts, boolean everywhere) {

		boolean cuts(int other, long now) {
			return this.fault == Fault.CUT && (this.everywhere || this.node == other) && this.at <= now
					&& now < this.at + this.lasts;
		}

		/** Returns whether it can explain that the lease of a node's claim ran out. */
		boolean endsLeases(int other, long from, long until) {
			boolean there = this.everywhere || this.node == other || this.fault == Fault.CLOCK_STEP;
			return there && this.at <= until && this.at + this.lasts >= from;
		}

		@Override
		public String toString() {
			return String.format("%s of %s at %.3f s for %.3f s", this.fault,
					this.everywhere ? "all nodes" : "node " + this.node, this.at / 1e9, this.lasts / 1e9);
		}

	}

}
