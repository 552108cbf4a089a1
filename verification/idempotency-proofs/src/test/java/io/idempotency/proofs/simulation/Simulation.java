package io.idempotency.proofs.simulation;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.idempotency.key.Fingerprint;
import io.idempotency.engine.GuardedCall;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.RecordKey;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;

/** One scenario, from the first call until nothing is left to happen. */
final class Simulation {

	/** From this time on no message is lost, so that everything can come to an end. */
	static final long QUIET_AFTER = TimeUnit.SECONDS.toNanos(30);

	private static final long END = TimeUnit.MINUTES.toNanos(20);

	/** A server that is closed ends after this time at the earliest. */
	private static final long CLOSING = TimeUnit.SECONDS.toNanos(11);

	private final Scenario scenario;

	private final World world = new World(END);

	private final Rules rules;

	private final StoreClock clock = new StoreClock();

	private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(16_000_000, this.clock);

	private final Network network;

	private final List<Node> nodes = new ArrayList<>();

	private final List<Network.Line> lines = new ArrayList<>();

	private int calls;

	private int hangUps;

	private final Driver driver;

	private Simulation(Scenario scenario, Driver driver, Set<String> spared) {
		this.scenario = scenario;
		this.driver = driver;
		this.rules = new Rules(this.world, scenario);
		this.network = new Network(this.world, scenario, this.store, this.rules, spared);
		for (int i = 0; i < scenario.nodes(); i++) {
			Node node = new Node(this.world, scenario.chance(), i);
			this.nodes.add(node);
			Network.Line line = this.network.from(node);
			this.lines.add(line);
			node.speaks(line.reactive());
		}
	}

	/**
	 * Runs a scenario.
	 * @param scenario the scenario
	 * @param driver which engine is given the calls
	 * @param spared the faults of messages that are left out
	 * @param log counts what the engine logs
	 */
	static Result run(Scenario scenario, Driver driver, Set<String> spared, WarningCount log) {
		return new Simulation(scenario, driver, spared).run(log);
	}

	private Result run(WarningCount log) {
		log.begin(this.world);
		for (Call call : this.scenario.calls()) {
			this.world.at(call.at(), null, () -> send(call, 0));
		}
		for (Scenario.Disturbance event : this.scenario.events()) {
			this.world.at(event.at(), null, () -> happens(event));
		}
		this.world.run();
		ends(log);
		Map<Fault, Integer> counts = this.network.counts();
		this.scenario.events().forEach((event) -> counts.merge(event.fault(), 1, Integer::sum));
		counts.merge(Fault.HANG_UP, this.hangUps, Integer::sum);
		Result result = new Result(this.rules.violation(), List.copyOf(this.rules.history()), this.world.steps(),
				counts, this.network.injected(), this.calls);
		log.end();
		this.world.dispose();
		return result;
	}

	private void happens(Scenario.Disturbance event) {
		Node node = this.nodes.get(event.node());
		switch (event.fault()) {
			case PAUSE -> node.pause(event.lasts());
			case CRASH -> node.dies();
			case NO_THREAD -> node.rejects();
			case CLOSE -> {
				this.world.start(node, null, node::closes);
				this.world.at(this.world.now() + CLOSING + event.lasts(), null, node::dies);
			}
			case CLOCK_STEP -> this.clock.step += (event.lasts() % 2 == 0) ? event.lasts() : -event.lasts();
			case RECORD_LOST -> keys().forEach(this::loseRecord);
			default -> {
				// The network asks for cuts when it sends.
			}
		}
	}

	private void loseRecord(KeyPlan key) {
		this.store.admin().orElseThrow().evict(RecordKey.of(key.key()), true);
		this.rules.recordLost(key);
	}

	private Set<KeyPlan> keys() {
		Set<KeyPlan> keys = new LinkedHashSet<>();
		this.scenario.calls().forEach((call) -> keys.add(call.key()));
		return keys;
	}

	private void send(Call call, int number) {
		if (number == call.tries()) {
			return;
		}
		Node node = this.nodes.get((call.number() + number) % this.nodes.size());
		Runnable once = once(() -> send(call, number + 1));
		if (node.isGone()) {
			this.world.at(this.world.now() + TimeUnit.MILLISECONDS.toNanos(100), null, once);
			return;
		}
		this.calls++;
		Attempt attempt = new Attempt(call, number, node);
		this.rules.begins(attempt);
		Hearing hearing = new Hearing();
		this.world.start(node, attempt, () -> {
			if (!execute(attempt, hearing)) {
				this.world.at(this.world.now() + TimeUnit.MILLISECONDS.toNanos(300), null, once);
			}
		});
		long impatient = this.world.now() + call.patience();
		this.world.at(impatient, null, once);
		if (this.driver.isReactive(this.scenario.chance(), attempt)
				&& this.scenario.chance().hits(0.5, "hangs up", attempt.id())) {
			// Many while their claim is under way: what comes of it finds nobody.
			long claimed = (long) (call.key().lease() * this.scenario.timeout());
			long soon = this.scenario.chance().between(0, claimed, "hangs up soon", attempt.id());
			long patience = this.scenario.chance().hits(0.5, "hangs up early", attempt.id())
					? Math.min(soon, call.patience()) : call.patience();
			this.world.at(this.world.now() + patience, node, () -> hangUp(attempt, hearing));
		}
	}

	private void hangUp(Attempt attempt, Hearing hearing) {
		if (hearing.hangUp()) {
			this.rules.hungUp(attempt);
			this.hangUps++;
		}
	}

	private static Runnable once(Runnable task) {
		boolean[] done = new boolean[1];
		return () -> {
			if (!done[0]) {
				done[0] = true;
				task.run();
			}
		};
	}

	/** Executes a call on its node; returns whether the client is content. */
	private boolean execute(Attempt attempt, Hearing hearing) {
		KeyPlan key = attempt.call.key();
		Fingerprint fingerprint = Fingerprint.of("simulated").add("variant " + attempt.call.variant()).build();
		GuardedCall call = new GuardedCall(key.key(), fingerprint, key.options(),
				this.lines.get(attempt.node.number()));
		try {
			Object value = this.driver.isReactive(this.scenario.chance(), attempt) ? hear(attempt, call, hearing)
					: Work.await(this.world, attempt.node.engine.execute(call,
							new Work(this.world, this.rules, attempt, attempt.call.work().isAsync())));
			if (!hearing.isOver()) {
				this.rules.answered(attempt, value);
			}
			return true;
		}
		catch (World.Gone gone) {
			throw gone;
		}
		catch (Throwable failure) {
			// What a caller may get is a rule, and the client tries again.
			if (!Work.isOwn(failure)) {
				this.rules.rejected(attempt, failure);
			}
			return false;
		}
	}

	/** Subscribes, and waits for the answer, or until the client hangs up. */
	private @Nullable Object hear(Attempt attempt, GuardedCall call, Hearing hearing) throws Throwable {
		OnDisconnect onDisconnect = this.scenario.chance().hits(0.4, "cancels", attempt.id()) ? OnDisconnect.CANCEL
				: OnDisconnect.CONTINUE;
		World.Wait wait = this.world.prepare();
		hearing
			.begin(attempt.node.reactive.execute(call, new ReactiveWork(this.world, this.rules, attempt), onDisconnect)
				.contextWrite(Context.of(Attempt.class, attempt)), () -> this.world.wake(wait, this.world.now()));
		this.world.block();
		return hearing.answer();
	}

	private void ends(WarningCount log) {
		Throwable failure = this.world.failure();
		if (failure != null) {
			this.rules.violated("a thread has thrown " + failure);
		}
		if (this.world.isStuck()) {
			this.rules.violated("a thread waits for ever");
		}
		if (this.world.isBusy()) {
			this.rules.violated("something happens for ever");
		}
		for (Node node : this.nodes) {
			boolean left = node.engine.load().outstandingWrites() + node.engine.load().runningClaims()
					+ node.engine.load().waiters() > 0;
			if (!node.isGone() && left) {
				this.rules.violated("something is outstanding for ever on node " + node.number());
			}
		}
		int faults = this.network.injected().size() + 6 * this.scenario.events().size() + this.calls;
		if (log.count() > 2 * faults) {
			this.rules.violated(log.count() + " lines in the log for " + faults + " faults and calls");
		}
		this.clock.step += TimeUnit.MINUTES.toNanos(1);
		for (KeyPlan key : keys()) {
			Fingerprint any = Fingerprint.NONE;
			this.rules.ended(key, this.store
				.claim(ClaimRequest.of(key.key(), Duration.ofSeconds(1), Duration.ofHours(1)).withFingerprint(any)));
		}
	}

	/**
	 * What came of it.
	 *
	 * @param violation the rule that did not hold, {@code null} if all held
	 * @param history what happened, in order
	 * @param steps how many events there were
	 * @param faults how often each fault was injected
	 * @param messages the faults of messages, by the name that spares them
	 * @param calls how often a call reached a node
	 */
	record Result(@Nullable String violation, List<String> history, long steps, Map<Fault, Integer> faults,
			Map<String, String> messages, int calls) {
	}

	/** The clock of the store. */
	private final class StoreClock extends Clock {

		private long step;

		@Override
		public Instant instant() {
			return Instant.parse("2030-01-01T00:00:00Z").plusNanos(Simulation.this.world.now() + this.step);
		}

		@Override
		public ZoneId getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId zone) {
			throw new UnsupportedOperationException(Objects.toString(zone));
		}

	}

}
