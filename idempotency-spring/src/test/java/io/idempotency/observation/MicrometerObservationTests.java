package io.idempotency.observation;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import com.sun.management.ThreadMXBean;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.cumulative.CumulativeTimer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What Micrometer shows of an engine. */
class MicrometerObservationTests {

	private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

	private final ObservationRegistry observations = ObservationRegistry.create();

	private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(1_000_000);

	private final Scheduler scheduler = Scheduler.system();

	private @Nullable IdempotencyEngine engine;

	@AfterEach
	void close() {
		if (this.engine != null) {
			this.engine.close();
		}
		this.scheduler.close();
	}

	private DefaultIdempotencyTemplate template(IdempotencyStore store, EngineObserver observers) {
		IdempotencyListener listener = new EventCounter(this.meters);
		this.engine = new IdempotencyEngine(1, DetachedCalls.Limits.DEFAULTS, listener, this.scheduler, () -> null,
				null, observers);
		return new DefaultIdempotencyTemplate(this.engine, store, new Jackson2ResultCodec(),
				IdempotencyOptions.DEFAULTS);
	}

	private static EngineObserver observer(ObservationRegistry observations,
			@Nullable IdempotencyObservationConvention convention, @Nullable MeterRegistry meters) {
		return new MicrometerObserver(ClaimOrigin.UNKNOWN, observations, convention, null, null,
				(meters != null) ? new StoreTimerFactory(meters) : null);
	}

	private DefaultIdempotencyTemplate observed(@Nullable IdempotencyObservationConvention convention) {
		this.observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(this.meters));
		return template(this.store, observer(this.observations, convention, null));
	}

	private static @Nullable String pay(DefaultIdempotencyTemplate template, Supplier<String> work) {
		return template.operation("pay").key("k-secret").execute(String.class, work);
	}

	private Timer calls(String outcome) {
		return this.meters.get("idempotency").tag("outcome", outcome).timer();
	}

	@Test
	void eachCallIsTimedByItsOutcome() {
		DefaultIdempotencyTemplate template = observed(null);
		for (int i = 0; i < 3; i++) {
			assertThat(pay(template, () -> "paid")).isEqualTo("paid");
		}
		assertThat(calls("executed").count()).isEqualTo(1);
		assertThat(calls("replayed").count()).isEqualTo(2);
		assertThat(calls("executed").getId().getTags()).containsExactlyInAnyOrder(Tag.of("error", "none"),
				Tag.of("mode", "replay"), Tag.of("operation", "pay"), Tag.of("outcome", "executed"),
				Tag.of("store", "memory"));
	}

	@Test
	void noTagHasTheKey() {
		pay(observed(null), () -> "paid");
		assertThat(this.meters.getMeters()).isNotEmpty()
			.allSatisfy((meter) -> assertThat(meter.getId().getTags().toString()).doesNotContain("k-secret"));
	}

	@Test
	void keyValuesAreMadeOnceForAllCallsThatEndAlike() {
		IdempotencyObservationConvention usual = new DefaultIdempotencyObservationConvention();
		IdempotencyObservationContext call = new IdempotencyObservationContext("pay", IdempotencyMode.REPLAY, "memory");
		KeyValues running = usual.getLowCardinalityKeyValues(call);
		call.outcome(IdempotencyOutcome.EXECUTED);
		KeyValues ended = usual.getLowCardinalityKeyValues(call);
		IdempotencyObservationContext other = new IdempotencyObservationContext("pay", IdempotencyMode.REPLAY,
				"memory");
		assertThat(usual.getLowCardinalityKeyValues(other)).isSameAs(running);
		other.outcome(IdempotencyOutcome.EXECUTED);
		assertThat(usual.getLowCardinalityKeyValues(other)).isSameAs(ended).isNotEqualTo(running);
	}

	/**
	 * As the thread counts bytes; what Micrometer takes for its part differs by version.
	 */
	@Test
	void observedCallTakesHardlyMoreThanAnObservationAroundNothing() throws Throwable {
		DefaultIdempotencyTemplate seen = observed(null);
		ObservationRegistry nobody = ObservationRegistry.NOOP;
		try (IdempotencyEngine other = new IdempotencyEngine(1, DetachedCalls.Limits.DEFAULTS, IdempotencyListener.NONE,
				this.scheduler, () -> null, null, observer(nobody, null, null))) {
			DefaultIdempotencyTemplate unseen = new DefaultIdempotencyTemplate(other, this.store,
					new Jackson2ResultCodec(), IdempotencyOptions.DEFAULTS);
			KeyValues tags = KeyValues.of("operation", "pay", "mode", "replay", "store", "memory", "outcome", "any");
			long call = bytes(() -> pay(seen, () -> "paid")) - bytes(() -> pay(unseen, () -> "paid"));
			long observation = bytes(() -> Observation.createNotStarted("idempotency", this.observations)
				.lowCardinalityKeyValues(tags)
				.observe(() -> "paid"));
			assertThat(call).isPositive().isLessThan(observation + 100);
		}
	}

	private static long bytes(Supplier<@Nullable String> work) {
		ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		long least = Long.MAX_VALUE;
		for (int i = 0; i < 300; i++) {
			long before = thread.getCurrentThreadAllocatedBytes();
			assertThat(work.get()).isEqualTo("paid");
			least = Math.min(least, thread.getCurrentThreadAllocatedBytes() - before);
		}
		return least;
	}

	@Test
	void observationIsTheCurrentOneWhileTheCallRuns() {
		AtomicReference<@Nullable Observation> current = new AtomicReference<>();
		pay(observed(null), () -> {
			current.set(this.observations.getCurrentObservation());
			return "paid";
		});
		assertThat(current.get()).isNotNull()
			.satisfies((seen) -> assertThat(seen.getContextView().getName()).isEqualTo("idempotency"));
		assertThat(this.observations.getCurrentObservation()).isNull();
	}

	@Test
	void observationIsTheCurrentOneWhileTheResultOfAFutureIsLookedUp() throws Exception {
		AtomicReference<@Nullable Observation> current = new AtomicReference<>();
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<@Nullable String> answer = observed(null).operation("pay")
			.key("k-secret")
			.duplicateOn(IllegalStateException.class)
			.recover(() -> {
				current.set(this.observations.getCurrentObservation());
				return "found";
			})
			.executeAsync(String.class, () -> work);
		work.completeExceptionally(new IllegalStateException("already paid"));
		assertThat(answer.get()).isEqualTo("found");
		assertThat(current.get()).isNotNull()
			.satisfies((seen) -> assertThat(seen.getContextView().getName()).isEqualTo("idempotency"));
		assertThat(calls("recovered").count()).isEqualTo(1);
	}

	@Test
	void conventionOfTheApplicationIsAsked() {
		pay(observed(new DefaultIdempotencyObservationConvention() {

			@Override
			public String getName() {
				return "guarded";
			}

			@Override
			public KeyValues getLowCardinalityKeyValues(IdempotencyObservationContext context) {
				return super.getLowCardinalityKeyValues(context).and("team", "payments");
			}

		}), () -> "paid");
		assertThat(this.meters.get("guarded").tag("team", "payments").tag("outcome", "executed").timer().count())
			.isEqualTo(1);
	}

	@Test
	void handlerThatFailsChangesNoAnswerAndLeavesTheThreadAsItWas() {
		int steps = 5;
		AtomicReference<Integer> failing = new AtomicReference<>();
		this.observations.observationConfig().observationHandler(new FailingHandler(failing));
		DefaultIdempotencyTemplate template = observed(null);
		for (int step = 0; step < steps; step++) {
			failing.set(step);
			String key = "k" + step;
			assertThat(template.operation("pay").key(key).execute(String.class, () -> "paid")).isEqualTo("paid");
			assertThat(this.observations.getCurrentObservationScope()).isNull();
		}
	}

	@Test
	void conventionThatFailsChangesNoAnswer() {
		assertThat(pay(observed(new DefaultIdempotencyObservationConvention() {

			@Override
			public KeyValues getLowCardinalityKeyValues(IdempotencyObservationContext context) {
				throw new IllegalStateException("broken");
			}

		}), () -> "paid")).isEqualTo("paid");
	}

	@Test
	void registryWithoutHandlersIsToldNothing() {
		DefaultIdempotencyTemplate template = template(this.store, observer(ObservationRegistry.NOOP, null, null));
		assertThat(pay(template, () -> "paid")).isEqualTo("paid");
		assertThat(this.meters.getMeters()).isEmpty();
	}

	@Test
	void eachVerbOfAStoreIsTimedAndSoAreItsFailures() {
		BrokenStore broken = new BrokenStore(this.store);
		DefaultIdempotencyTemplate template = template(broken, observer(ObservationRegistry.NOOP, null, this.meters));
		pay(template, () -> "paid");
		broken.fails = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> pay(template, () -> "paid"));
		assertThat(verb("claim", "success").count()).isEqualTo(1);
		assertThat(verb("complete", "success").count()).isEqualTo(1);
		assertThat(verb("claim", "error").count()).isEqualTo(2);
		assertThat(verb("renew", "error").count()).isZero();
		// Else the close would wait for it.
		broken.fails = false;
	}

	@Test
	void lookIsTimedWhateverItFinds() {
		BrokenStore broken = new BrokenStore(this.store);
		IdempotencyStore timed = new StoreTimerFactory(this.meters).observed(broken);
		IdempotencyKey key = IdempotencyKey.of("pay", Caller.GLOBAL, "k");
		assertThat(timed.find(key, Fingerprint.NONE)).isEmpty();
		Claim claim = ((ClaimResult.Acquired) this.store
			.claim(ClaimRequest.of(key, Duration.ofMinutes(1), Duration.ofHours(1)))).claim();
		this.store.complete(
				Completion.result(claim, Fingerprint.NONE, new StoredResult("test", new byte[0]), Duration.ofHours(1)));
		assertThat(timed.find(key, Fingerprint.NONE)).isPresent();
		broken.fails = true;
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> timed.find(key, Fingerprint.NONE));
		assertThat(verb("look", "success").count()).isEqualTo(2);
		assertThat(verb("look", "error").count()).isEqualTo(1);
	}

	@Test
	void timerThatFailsChangesNoAnswer() {
		DefaultIdempotencyTemplate template = template(this.store,
				observer(ObservationRegistry.NOOP, null, new BrokenTimers()));
		assertThat(pay(template, () -> "paid")).isEqualTo("paid");
		assertThat(pay(template, () -> "again")).isEqualTo("paid");
	}

	/** Fails whenever a time is to be recorded. */
	private static final class BrokenTimers extends SimpleMeterRegistry {

		@Override
		protected Timer newTimer(Meter.Id id, DistributionStatisticConfig statistics, PauseDetector pauses) {
			return new CumulativeTimer(id, this.clock, statistics, pauses, getBaseTimeUnit()) {

				@Override
				protected void recordNonNegative(long amount, TimeUnit unit) {
					throw new IllegalStateException("broken timer");
				}

			};
		}

	}

	private Timer verb(String verb, String outcome) {
		return this.meters.get("idempotency.store")
			.tag("store", "memory")
			.tag("verb", verb)
			.tag("outcome", outcome)
			.timer();
	}

	@Test
	void loadOfTheEngineIsShown() {
		DefaultIdempotencyTemplate template = template(this.store, EngineObserver.NONE);
		IdempotencyEngine running = this.engine;
		assertThat(running).isNotNull();
		new EngineMeterBinder(running::load).bindTo(this.meters);
		pay(template, () -> {
			assertThat(this.meters.get("idempotency.claims.running").gauge().value()).isEqualTo(1);
			return "paid";
		});
		assertThat(this.meters.get("idempotency.claims.running").gauge().value()).isZero();
		assertThat(this.meters.getMeters()).extracting((meter) -> meter.getId().getName())
			.contains("idempotency.waiters", "idempotency.pending.writes", "idempotency.pending.bytes",
					"idempotency.lease.renewal.delay");
		assertThat(this.meters.getMeters()).extracting(Meter::measure).isNotEmpty();
	}

	@Test
	void loadOfNoEngineIsNothing() {
		new EngineMeterBinder(() -> null).bindTo(this.meters);
		assertThat(this.meters.get("idempotency.claims.running").gauge().value()).isZero();
	}

	@Test
	void endsThatAreNoOutcomesAreCounted() {
		template(this.store, EngineObserver.NONE).operation("pay").key("k1").keepResult(false).run(() -> {
		});
		assertThat(this.meters.get("idempotency.events")
			.tag("event", "result-not-stored")
			.tag("operation", "pay")
			.counter()
			.count()).isEqualTo(1);
		assertThat(this.meters.getMeters()).hasSize(1);
	}

	/** Fails at one of its steps. */
	private record FailingHandler(AtomicReference<Integer> step) implements ObservationHandler<Observation.Context> {

		private void at(int here) {
			if (Integer.valueOf(here).equals(this.step.get())) {
				throw new IllegalStateException("step " + here);
			}
		}

		@Override
		public void onStart(Observation.Context context) {
			at(0);
		}

		@Override
		public void onScopeOpened(Observation.Context context) {
			at(1);
		}

		@Override
		public void onScopeClosed(Observation.Context context) {
			at(2);
		}

		@Override
		public void onStop(Observation.Context context) {
			at(3);
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			at(4);
			return true;
		}

	}

	/** A store that a test breaks. */
	private static final class BrokenStore extends ForwardingIdempotencyStore {

		private boolean fails;

		BrokenStore(IdempotencyStore store) {
			super(store);
		}

		@Override
		protected IdempotencyStore delegate() {
			if (this.fails) {
				throw new IdempotencyStoreException("broken");
			}
			return super.delegate();
		}

	}

}
