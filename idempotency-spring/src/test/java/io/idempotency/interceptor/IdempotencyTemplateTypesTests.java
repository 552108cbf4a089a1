package io.idempotency.interceptor;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Namespace;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.core.ParameterizedTypeReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Code without an annotation gets the same answer about its types as an annotation. */
class IdempotencyTemplateTypesTests {

	private static final Type FUTURE_OF_TEXT = new ParameterizedTypeReference<CompletableFuture<String>>() {
	}.getType();

	private static final Type STAGE_OF_TEXT = new ParameterizedTypeReference<CompletionStage<String>>() {
	}.getType();

	private static final Type MONO_OF_TEXT = new ParameterizedTypeReference<Mono<String>>() {
	}.getType();

	private final TestStore store = new TestStore();

	private final IdempotencyEngine engine = new IdempotencyEngine(10, IdempotencyListener.NONE);

	private final ResultCodec codec = new Jackson2ResultCodec();

	private final IdempotencyTemplate template = new DefaultIdempotencyTemplate(this.engine, this.store, this.codec,
			IdempotencyOptions.DEFAULTS,
			new SpringTemplateEnvironment(new StaticListableBeanFactory(), this.codec, () -> Caller.ANONYMOUS),
			Namespace.NONE);

	private final AtomicInteger runs = new AtomicInteger();

	@AfterEach
	void close() {
		this.engine.close();
	}

	private IdempotencyTemplate.Call call() {
		return this.template.operation("pay").key("7");
	}

	@ParameterizedTest
	@ValueSource(classes = { Object.class, List.class, CompletableFuture.class, Stream.class, Mono.class })
	void whatAnAnnotationRejectsIsRejectedBeforeTheActionRuns(Class<?> type) {
		assertThatIllegalArgumentException().isThrownBy(() -> call().execute(type, () -> {
			this.runs.incrementAndGet();
			return null;
		})).withMessageContaining("'pay'").withMessageContaining(type.getName());
		assertThat(this.runs).hasValue(0);
		assertThat(this.store.claims()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "LOCK", "REJECT" })
	void workThatOnlyBeginsAtTheReturnIsRejectedInEveryMode(String mode) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> call().mode(IdempotencyMode.valueOf(mode)).call(MONO_OF_TEXT, () -> Mono.just("x")))
			.withMessageContaining("'pay'");
		assertThat(this.store.claims()).isEmpty();
	}

	@Test
	void modesThatKeepNothingTakeAnyOtherType() {
		assertThat(call().mode(IdempotencyMode.REJECT).execute(Object.class, () -> "x")).isEqualTo("x");
	}

	@Test
	void aTypeIsLookedAtOnce() {
		List<Type> looked = new ArrayList<>();
		IdempotencyTemplate counting = new DefaultIdempotencyTemplate(this.engine, this.store, new ResultCodec() {

			private final ResultCodec json = new Jackson2ResultCodec();

			@Override
			public StoredResult encode(@Nullable Object value, Type type) {
				return this.json.encode(value, type);
			}

			@Override
			public @Nullable Object decode(StoredResult result, Type type) {
				return this.json.decode(result, type);
			}

			@Override
			public @Nullable String unsupported(Type type) {
				looked.add(type);
				return this.json.unsupported(type);
			}

		}, IdempotencyOptions.DEFAULTS);
		for (int i = 0; i < 3; i++) {
			counting.operation("o").key(i).execute(String.class, () -> "x");
		}
		assertThat(looked).containsExactly(String.class);
	}

	@Test
	void aFutureIsReplayedByWhatItGave() throws Exception {
		for (Type type : new Type[] { FUTURE_OF_TEXT, STAGE_OF_TEXT }) {
			IdempotencyTemplate.Call call = this.template.operation("pay").key(type.getTypeName());
			for (int i = 0; i < 2; i++) {
				CompletionStage<String> stage = call.call(type,
						() -> CompletableFuture.completedFuture("run " + this.runs.incrementAndGet()));
				assertThat(stage).isNotNull();
				assertThat(stage.toCompletableFuture().join()).isEqualTo("run " + this.runs.get());
			}
		}
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void theKeyIsInProgressUntilTheFutureIsComplete() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> first = call().call(FUTURE_OF_TEXT, () -> work);
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> call().call(FUTURE_OF_TEXT, () -> work));
		work.complete("done");
		assertThat(first).isNotNull();
		assertThat(first.join()).isEqualTo("done");
		CompletableFuture<String> again = call().call(FUTURE_OF_TEXT, () -> work);
		assertThat(again).isNotNull().isCompletedWithValue("done");
	}

	@Test
	void executeAsyncKeepsTheKeyUntilTheFutureIsComplete() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> first = call().executeAsync(String.class, () -> work);
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> call().executeAsync(String.class, () -> work));
		work.complete("done");
		assertThat(first.join()).isEqualTo("done");
		assertThat(call().executeAsync(String.class, () -> CompletableFuture.completedFuture("again")))
			.succeedsWithin(Duration.ofSeconds(60))
			.isEqualTo("done");
	}

	@Test
	void futureThatFailsFreesItsKey() {
		CompletableFuture<String> failed = call().executeAsync(String.class,
				() -> CompletableFuture.failedFuture(new IllegalStateException("first")));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(failed::join)
			.havingCause()
			.withMessage("first");
		assertThat(call().executeAsync(String.class, () -> CompletableFuture.completedFuture("second")).join())
			.isEqualTo("second");
	}

	@Test
	void futureOfAFutureIsRejected() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> call().executeAsync(CompletableFuture.class, () -> new CompletableFuture<>()))
			.withMessageContaining("'pay'");
	}

}
