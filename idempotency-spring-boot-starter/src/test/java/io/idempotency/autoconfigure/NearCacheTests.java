package io.idempotency.autoconfigure;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.engine.IdempotencyAutoConfiguration;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** Which stores are asked how often where results are kept near. */
class NearCacheTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withBean("idempotencyStore", RecordingStore.class);

	private final ApplicationContextRunner enabled = this.runner
		.withPropertyValues("idempotency.near-cache.enabled=true");

	@Test
	void everyDuplicateAsksTheStoreUnlessItIsEnabled() {
		this.runner.withBean(Cancellations.class).run((context) -> {
			cancel(context.getBean(Cancellations.class), 4);
			assertThat(context.getBean(RecordingStore.class).claims).hasSize(4);
		});
	}

	@Test
	void oneDuplicateAsksTheStoreOfTheApplication() {
		this.enabled.withBean(Cancellations.class).run((context) -> {
			cancel(context.getBean(Cancellations.class), 4);
			assertThat(context.getBean(RecordingStore.class).claims).hasSize(2);
			assertThat(context.getBean(RecordingStore.class).completions).hasSize(1);
		});
	}

	@Test
	void oneDuplicateOfACallThroughTheTemplateAsksTheStore() {
		this.enabled.run((context) -> {
			IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
			for (int i = 0; i < 4; i++) {
				template.operation("test").key("7").run(() -> {
				});
			}
			assertThat(context.getBean(RecordingStore.class).claims).hasSize(2);
		});
	}

	@Test
	void thereIsOneNearCacheForAllWhoAsk() {
		this.enabled.run((context) -> {
			DefaultStoreFinder stores = context.getBean(DefaultStoreFinder.class);
			assertThat(stores.defaultStore()).isInstanceOf(NearCacheIdempotencyStore.class)
				.isSameAs(stores.defaultStore());
		});
	}

	/** Its name is another way to it, and no way past its near cache. */
	@Test
	void evictionThroughTheNameOfTheDefaultStoreReachesTheNearCache() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withPropertyValues("idempotency.near-cache.enabled=true", "idempotency.near-cache.ttl=1h")
			.withBean("idempotencyStore", MemoryIdempotencyStore.class, () -> new MemoryIdempotencyStore(100_000))
			.withBean("other", RecordingStore.class)
			.run((context) -> {
				IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
				AtomicInteger runs = new AtomicInteger();
				Runnable call = () -> template.operation("test").key("7").run(runs::incrementAndGet);
				call.run();
				call.run();
				call.run();
				IdempotencyAdmin admin = context.getBean(IdempotencyAdmin.class)
					.store("other")
					.store("idempotencyStore");
				String id = admin.list("test", null, 10).records().get(0).id();
				assertThat(admin.evict("test", id, false).replayedFor()).isEqualTo(Duration.ofHours(1));
				call.run();
				assertThat(runs).hasValue(2);
			});
	}

	@Test
	void beanStaysTheStoreThatWasDeclared() {
		this.enabled.run((context) -> assertThat(context).hasSingleBean(IdempotencyStore.class)
			.hasSingleBean(RecordingStore.class));
	}

	@Test
	void storeThatAnAnnotationNamesIsAskedEveryTime() {
		this.enabled.withBean("other", RecordingStore.class).withBean(Events.class).run((context) -> {
			for (int i = 0; i < 3; i++) {
				context.getBean(Events.class).handle("7");
			}
			assertThat(context.getBean("other", RecordingStore.class).claims).hasSize(3);
		});
	}

	@Test
	void nearCacheOfTheApplicationIsNotPutBehindAnother() {
		NearCacheIdempotencyStore own = new NearCacheIdempotencyStore(new RecordingStore(), 1_000_000,
				Duration.ofSeconds(1));
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withPropertyValues("idempotency.near-cache.enabled=true")
			.withBean(NearCacheIdempotencyStore.class, () -> own)
			.run((context) -> assertThat(context.getBean(DefaultStoreFinder.class).defaultStore()).isSameAs(own));
	}

	@Test
	void sizeWithoutRoomForOneResultFailsTheStart() {
		this.enabled.withPropertyValues("idempotency.near-cache.max-size=100B")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class,
						(ex) -> assertThat(ex.getName()).isEqualTo("idempotency.near-cache.max-size")));
	}

	private static void cancel(Cancellations cancellations, int times) {
		for (int i = 0; i < times; i++) {
			cancellations.cancel("7");
		}
		assertThat(cancellations.runs()).isEqualTo(1);
	}

	static class Events {

		@Idempotent(key = "#id", store = "other")
		void handle(String id) {
		}

	}

}
