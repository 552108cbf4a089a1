package io.idempotency.autoconfigure.actuate;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.autoconfigure.Cancellations;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.engine.EngineObserver;
import io.idempotency.http.RouteRegistry;
import io.idempotency.observation.DefaultIdempotencyObservationConvention;
import io.idempotency.observation.IdempotencyObservationConvention;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationRegistry;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** What is measured where Micrometer is, and that nothing is where it is not. */
@ExtendWith(OutputCaptureExtension.class)
class MetricsTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class,
				IdempotencyObservationAutoConfiguration.class, IdempotencyMetricsAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory")
		.withBean(Cancellations.class);

	private final ApplicationContextRunner measured = this.runner
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(ObservationRegistry.class, MetricsTests::handled);

	/** As Boot does it: what handles observations is there before any of them. */
	private static ObservationRegistry handled() {
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig().observationHandler((call) -> true);
		return registry;
	}

	private static MeterRegistry observe(ApplicationContext context) {
		MeterRegistry meters = context.getBean(MeterRegistry.class);
		context.getBean(ObservationRegistry.class)
			.observationConfig()
			.observationHandler(new DefaultMeterObservationHandler(meters));
		context.getBeansOfType(MeterBinder.class).values().forEach((binder) -> binder.bindTo(meters));
		return meters;
	}

	@Test
	void callsStoresAndEngineAreMeasured() {
		this.measured.run((context) -> {
			MeterRegistry meters = observe(context);
			Cancellations cancellations = context.getBean(Cancellations.class);
			cancellations.cancel("7");
			cancellations.cancel("7");
			assertThat(meters.get("idempotency").tag("outcome", "executed").timer().count()).isEqualTo(1);
			assertThat(meters.get("idempotency").tag("outcome", "replayed").timer().count()).isEqualTo(1);
			assertThat(meters.get("idempotency.store").tag("verb", "claim").tag("outcome", "success").timer().count())
				.isEqualTo(2);
			assertThat(meters.get("idempotency.claims.running").gauge().value()).isZero();
		});
	}

	@Test
	void fillOfTheMemoryStoreIsMeasured() {
		this.measured.withPropertyValues("idempotency.memory.max-size=1MB").run((context) -> {
			MeterRegistry meters = observe(context);
			assertThat(meters.get("idempotency.memory.max").gauge().value()).isEqualTo(1024 * 1024);
			assertThat(meters.get("idempotency.memory.used").gauge().value()).isZero();
			context.getBean(Cancellations.class).cancel("7");
			assertThat(meters.get("idempotency.memory.used").gauge().value()).isPositive();
			assertThat(meters.get("idempotency.memory.kept").gauge().value())
				.isLessThan(meters.get("idempotency.memory.used").gauge().value());
			assertThat(meters.find("idempotency.redis.evicted.keys").functionCounter()).isNull();
		});
	}

	@Test
	void duplicatesThatWaitAreMeasuredBesideTheirLimit() {
		this.measured.withPropertyValues("idempotency.max-waiters=7").run((context) -> {
			MeterRegistry meters = observe(context);
			Gauge waiters = meters.get("idempotency.waiters").gauge();
			IdempotencyTemplate.Call waiting = context.getBean(IdempotencyTemplate.class)
				.operation("pay")
				.key("7")
				.conflict(ConflictMode.WAIT);
			AtomicReference<CompletableFuture<?>> duplicate = new AtomicReference<>();
			waiting.run(() -> {
				duplicate.set(CompletableFuture.runAsync(() -> waiting.run(Assertions::fail)));
				await().until(() -> waiters.value() == 1);
			});
			duplicate.get().join();
			assertThat(waiters.value()).isZero();
			assertThat(meters.get("idempotency.waiters.max").gauge().value()).isEqualTo(7);
		});
	}

	@Test
	void evictionsOfRedisAreMeasured() {
		this.measured.withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class))
			.withPropertyValues("idempotency.store=redis", "spring.data.redis.port=1")
			.run((context) -> {
				MeterRegistry meters = observe(context);
				assertThat(meters.get("idempotency.redis.evicted.keys").functionCounter().count()).isZero();
				assertThat(meters.find("idempotency.memory.used").gauge()).isNull();
			});
	}

	@Test
	void outcomesOfEachOperationBeginAtZero() {
		this.measured.run((context) -> {
			MeterRegistry meters = observe(context);
			assertThat(meters.get("idempotency").timers()).extracting((timer) -> timer.getId().getTag("outcome"))
				.containsExactlyInAnyOrder("executed", "store-unavailable", "key-reused");
			assertThat(meters.get("idempotency").timers()).allMatch((timer) -> timer.count() == 0);
			assertThat(meters.get("idempotency.events").tag("event", "taken-over").counter().count()).isZero();
			context.getBean(Cancellations.class).cancel("7");
			Timer executed = meters.get("idempotency").tag("outcome", "executed").timer();
			assertThat(executed.count()).isEqualTo(1);
		});
	}

	@Test
	void outcomesOfRoutesBeginAtZero() throws NoSuchMethodException {
		RouteRegistry routes = new RouteRegistry(IdempotencyOptions.DEFAULTS, "Idempotency-Key",
				new MemoryIdempotencyStore(1_000_000), (name) -> {
					throw new IllegalArgumentException(name);
				}, () -> List::of);
		routes.add("orders.place", (route) -> {
		}, Runnable.class.getMethod("run"));
		this.measured.withBean(RouteRegistry.class, () -> routes).run((context) -> {
			MeterRegistry meters = observe(context);
			assertThat(meters.get("idempotency").tag("operation", "orders.place").timers())
				.extracting((timer) -> timer.getId().getTag("outcome"))
				.contains("executed", "store-unavailable", "key-reused");
			assertThat(meters.get("idempotency.events").tag("operation", "orders.place").counters()).isNotEmpty();
		});
	}

	@Test
	void outcomesThatBeginAtZeroHaveTheTagsOfTheApplication() {
		ObservationFilter region = (call) -> call.addLowCardinalityKeyValue(KeyValue.of("region", "eu"));
		this.measured.withBean(ObservationFilter.class, () -> region).run((context) -> {
			MeterRegistry meters = observe(context);
			context.getBean(ObservationRegistry.class).observationConfig().observationFilter(region);
			context.getBean(Cancellations.class).cancel("7");
			assertThat(meters.get("idempotency").timers()).hasSizeGreaterThan(2)
				.allMatch((timer) -> "eu".equals(timer.getId().getTag("region")));
			assertThat(meters.get("idempotency").tag("outcome", "executed").timer().count()).isEqualTo(1);
		});
	}

	@Test
	void nothingBeginsWhereNoCallIsObserved() {
		ObservationRegistry deaf = handled();
		deaf.observationConfig().observationPredicate((name, call) -> !name.equals("idempotency"));
		this.runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withBean(ObservationRegistry.class, () -> deaf)
			.run((context) -> assertThat(observe(context).find("idempotency").timers()).isEmpty());
	}

	@Test
	void conventionOfTheApplicationReplacesTheUsualOne() {
		IdempotencyObservationConvention convention = new DefaultIdempotencyObservationConvention() {

			@Override
			public String getName() {
				return "guarded";
			}

		};
		this.measured.withBean(IdempotencyObservationConvention.class, () -> convention).run((context) -> {
			MeterRegistry meters = observe(context);
			context.getBean(Cancellations.class).cancel("7");
			assertThat(meters.get("guarded").tag("outcome", "executed").timer().count()).isEqualTo(1);
			assertThat(meters.find("idempotency").timer()).isNull();
		});
	}

	@Test
	void listenersOfTheApplicationAreToldBesideTheCounters() {
		List<String> told = new ArrayList<>();
		this.measured.withBean("own", IdempotencyListener.class, () -> (event, operation) -> told.add(event.toString()))
			.run((context) -> {
				context.getBean(Cancellations.class).cancel("7");
				assertThat(told).containsExactly("EXECUTED");
			});
	}

	@Test
	void meterThatFailsChangesNoAnswer() {
		this.measured.withBean(EngineObserver.class, BrokenObserver::new).run((context) -> {
			Cancellations cancellations = context.getBean(Cancellations.class);
			cancellations.cancel("7");
			cancellations.cancel("7");
			assertThat(cancellations.runs()).isEqualTo(1);
		});
	}

	@Test
	void nobodyObservesWithoutRegistries() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean("idempotencyStoreTimers")
			.doesNotHaveBean("idempotencyOutcomeMeters")
			.doesNotHaveBean(IdempotencyListener.class));
	}

	@Test
	void nobodyObservesWithoutMicrometer() {
		this.measured.withClassLoader(new FilteredClassLoader(ObservationRegistry.class, MeterRegistry.class))
			.run((context) -> assertThat(context).doesNotHaveBean(EngineObserver.class)
				.doesNotHaveBean("idempotencyStoreTimers")
				.doesNotHaveBean(IdempotencyListener.class));
	}

	@Test
	void nothingIsMeasuredWhereNothingIsGuarded() {
		this.measured.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(EngineObserver.class)
				.doesNotHaveBean("idempotencyStoreTimers"));
	}

	private static final class BrokenObserver implements EngineObserver {

		@Override
		public SeenCall started(GuardedCall call) {
			throw new IllegalStateException("broken");
		}

		@Override
		public IdempotencyStore observed(IdempotencyStore store) {
			throw new IllegalStateException("broken");
		}

	}

}
