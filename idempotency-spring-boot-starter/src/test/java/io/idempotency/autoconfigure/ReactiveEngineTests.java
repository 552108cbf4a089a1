package io.idempotency.autoconfigure;

import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.GuardedCall;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveAction;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoredResult;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;

/** The engine of the calls that must not block, in an application. */
@ExtendWith(OutputCaptureExtension.class)
class ReactiveEngineTests {

	private static final String BEAN = "reactiveIdempotencyEngine";

	private static final IdempotencyOptions POLICY = IdempotencyOptions.DEFAULTS.change()
		.operation("orders.create")
		.build();

	private static final String BLOCKS = "blocks, so non-blocking calls";

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class));

	private final ApplicationContextRunner blocking = this.application.withBean("idempotencyStore",
			IdempotencyStore.class, RecordingStore::new);

	@Test
	void asksTheFormOfTheStoreThatDoesNotBlock() {
		RecordingStore store = new RecordingStore();
		ReactiveIdempotencyStore own = Mockito.mock(ReactiveIdempotencyStore.class);
		given(own.blocking()).willReturn(store);
		this.application.withBean("idempotencyStore", IdempotencyStore.class, () -> store)
			.withBean(ReactiveIdempotencyStore.class, () -> own)
			.run((context) -> assertThat(context.getBean(ReactiveIdempotencyEngine.class).store(store)).isSameAs(own));
	}

	@Test
	void isNotMadeWhereNothingAsksForIt(CapturedOutput output) {
		new WebApplicationContextRunner().withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withBean("idempotencyStore", IdempotencyStore.class, RecordingStore::new)
			.withBean(Payments.class)
			.run((context) -> {
				assertThat(context.getBean(Payments.class).pay("7").number()).isOne();
				assertThat(context.getBeanFactory().containsBeanDefinition(BEAN)).isTrue();
				assertThat(context.getBeanFactory().getSingleton(BEAN)).isNull();
				assertThat(output).doesNotContain(BLOCKS);
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "reactor.", "io.idempotency.reactor." })
	void isNotThereWithoutReactorOrTheDriver(String missing) {
		this.blocking.withBean(Payments.class).withClassLoader(new FilteredClassLoader(missing)).run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(BEAN);
			assertThat(context.getBean(Payments.class).pay("7").number()).isOne();
		});
	}

	@Test
	void isNotThereWhereNothingIsGuarded() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class,
					IdempotencyDisabledAutoConfiguration.class))
			.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(BEAN));
	}

	@Test
	void closeWaitsForTheWorkOfACallerWhoIsGone() {
		this.blocking.withPropertyValues("idempotency.shutdown-timeout=2m").run((context) -> {
			RecordingStore store = (RecordingStore) context.getBean(IdempotencyStore.class);
			Work abandoned = new Work();
			Disposable caller = call(context, "key-1", abandoned).subscribe();
			abandoned.begun.await();
			caller.dispose();
			Thread closing = new Thread(context::close);
			closing.start();
			IdempotencyEngine engine = context.getBean(IdempotencyEngine.class);
			Awaitility.await().until(() -> isClosed(engine, store));
			assertThat(store.completions).isEmpty();
			abandoned.result.tryEmitValue("late");
			closing.join();
			assertThat(store.completions).hasSize(1);
		});
	}

	/** Its rejection would end the work around it, after a part of that was done. */
	@Test
	void workThatACloseWaitsForMayCallGuardedMethods() {
		this.blocking.withPropertyValues("idempotency.shutdown-timeout=2m").run((context) -> {
			RecordingStore store = (RecordingStore) context.getBean(IdempotencyStore.class);
			Work inner = new Work();
			inner.result.tryEmitValue("done");
			Work abandoned = new Work();
			Mono<String> nested = call(context, "key-2", inner);
			abandoned.then = (value) -> nested;
			Disposable caller = call(context, "key-1", abandoned).subscribe();
			abandoned.begun.await();
			caller.dispose();
			Thread closing = new Thread(context::close);
			closing.start();
			IdempotencyEngine engine = context.getBean(IdempotencyEngine.class);
			Awaitility.await().until(() -> isClosed(engine, store));
			abandoned.result.tryEmitValue("late");
			closing.join();
			assertThat(store.completions).hasSize(2);
		});
	}

	@Test
	void maxUnattendedBoundsTheWorkWithoutACaller(CapturedOutput output) {
		this.blocking.withPropertyValues("idempotency.max-detached-calls=1").run((context) -> {
			Work abandoned = new Work();
			Disposable caller = call(context, "key-1", abandoned).subscribe();
			abandoned.begun.await();
			caller.dispose();
			Work other = new Work();
			other.result.tryEmitValue("done");
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
					.isThrownBy(call(context, "key-2", other)::block);
			}
			assertThat(output).containsOnlyOnce("1 detached calls are in progress on this node");
			abandoned.result.tryEmitValue("late");
			Awaitility.await()
				.until(() -> context.getBean(IdempotencyEngine.class).load().detachedCalls(), (left) -> left == 0);
			assertThat(call(context, "key-2", other).block()).isEqualTo("done");
		});
	}

	@Test
	void acceptsCallsAgainAfterARestartOfTheContext() {
		this.blocking.run((context) -> {
			ConfigurableApplicationContext restarted = context.getSourceApplicationContext();
			Work work = new Work();
			work.result.tryEmitValue("first");
			assertThat(call(context, "key-1", work).block()).isEqualTo("first");
			restarted.stop();
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(call(context, "key-2", work)::block);
			restarted.start();
			assertThat(call(context, "key-1", new Work()).block()).isEqualTo("again");
			assertThat(call(context, "key-2", work).block()).isEqualTo("first");
		});
	}

	@Test
	void namesAStoreThatNeedsThreadsOnce(CapturedOutput output) {
		this.blocking.run((context) -> {
			ReactiveIdempotencyEngine engine = context.getBean(ReactiveIdempotencyEngine.class);
			IdempotencyStore store = context.getBean(IdempotencyStore.class);
			assertThat(engine.store(store)).isSameAs(engine.store(store));
			assertThat(output).containsOnlyOnce("RecordingStore " + BLOCKS);
		});
	}

	private static boolean isClosed(IdempotencyEngine engine, IdempotencyStore store) {
		try {
			engine.requireOpen(guarded("key-2", store), false);
			return false;
		}
		catch (IdempotencyStoreUnavailableException closed) {
			return true;
		}
	}

	private static GuardedCall guarded(String key, IdempotencyStore store) {
		return new GuardedCall(IdempotencyKey.of("orders.create", Caller.GLOBAL, key), Fingerprint.NONE, POLICY, store);
	}

	private static Mono<String> call(ApplicationContext context, String key, Work work) {
		return context.getBean(ReactiveIdempotencyEngine.class)
			.execute(guarded(key, context.getBean(IdempotencyStore.class)), work, OnDisconnect.CONTINUE);
	}

	/** Work that ends when the test says so. */
	private static final class Work implements ReactiveAction<String> {

		private final CountDownLatch begun = new CountDownLatch(1);

		private final Sinks.One<String> result = Sinks.one();

		private Function<String, Mono<String>> then = Mono::just;

		@Override
		public Mono<String> run() {
			return this.result.asMono()
				.doOnSubscribe((subscription) -> this.begun.countDown())
				.flatMap((value) -> this.then.apply(value));
		}

		@Override
		public String replay(StoredResult result) {
			return "again";
		}

		@Override
		public CallOutcome returned(@Nullable String value, boolean recovered) {
			return new CallOutcome.Done(() -> new StoredResult("text", new byte[0]));
		}

		@Override
		public CallOutcome threw(Throwable failure) {
			return new CallOutcome.Failed(failure, null);
		}

	}

}
