package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.codec.ResultCodec;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.store.StoredResult;
import kotlin.coroutines.Continuation;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.Ownership;
import net.bytebuddy.description.modifier.SyntheticState;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.implementation.FixedValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/**
 * A claim that ends when the method returns guards nothing where the work only begins
 * then: such methods are rejected at start-up.
 */
class UnfinishedWorkTests {

	@ParameterizedTest
	@ValueSource(classes = { LockMono.class, LockFlux.class, LockStream.class, LockIntStream.class, LockFuture.class,
			LockScheduledFuture.class, LockOwnPublisher.class, LockFutureOfFuture.class, LockFutureOfMono.class,
			LockListOfFutures.class, LockMapOfFutures.class, LockArrayOfFutures.class, LockOptionalMono.class,
			RejectMono.class })
	void whatOnlyBeginsWhenTheMethodReturnsIsRejected(Class<?> bean) {
		Rejections.assertRejected(bean, "its work continues after the method returns", "CompletableFuture");
	}

	@Test
	void aJoinedTransactionWouldEndBeforeTheWork() {
		Rejections.assertRejected(JoinMono.class, "its work continues after the method returns",
				"Return the result itself");
	}

	@Test
	void aReplayIsRejectedWhateverTheCodecSays() {
		Rejections.assertRejected(ReplayMono.class, "its work continues after the method returns", "CompletableFuture");
		IdempotencyConfigurationException failure = Rejections.of(ReplayMono.class, AnyCodec.class);
		assertThat(failure).hasMessageContaining("its work continues after the method returns");
	}

	@ParameterizedTest
	@ValueSource(classes = { LockSuspend.class, RejectSuspend.class, ReplaySuspend.class, JoinSuspend.class })
	void aSuspendFunctionIsNamed(Class<?> bean) {
		Rejections.assertRejected(bean, "it is a suspend function", "non-suspending");
	}

	@Test
	void anEntityHandsOutItsBody() throws ReflectiveOperationException {
		Type answer = Answers.class.getDeclaredMethod("reactive").getGenericReturnType();
		assertThat(DeferredResultTypes.include(answer)).isTrue();
	}

	/**
	 * Kotlin compiles an open suspend function to two methods with the same annotations,
	 * of which the second is static and has no names of parameters.
	 */
	@Test
	void theSecondHalfOfASuspendHandlerIsNotAnOperation() throws ReflectiveOperationException {
		AnnotationDescription annotation = AnnotationDescription.Builder.ofType(Idempotent.class)
			.define("key", "#sku")
			.build();
		Class<?> controller = new ByteBuddy().subclass(Object.class)
			.defineMethod("place", Object.class, Visibility.PUBLIC)
			.withParameter(String.class, "sku")
			.withParameter(Continuation.class, "continuation")
			.intercept(FixedValue.nullValue())
			.annotateMethod(annotation)
			.defineMethod("place$suspendImpl", Object.class, Visibility.PACKAGE_PRIVATE, Ownership.STATIC,
					SyntheticState.SYNTHETIC)
			.withParameters(Object.class, String.class, Continuation.class)
			.intercept(FixedValue.nullValue())
			.annotateMethod(annotation)
			.make()
			.load(getClass().getClassLoader())
			.getLoaded();
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(HandlerAdapter.class)) {
			IdempotentOperationSource source = context.getBean(IdempotentOperationSource.class);
			source.check(controller);
			assertThat(source.operation(controller.getMethod("place", String.class, Continuation.class), controller))
				.isNotNull();
		}
	}

	/**
	 * What it returns is in its last parameter; an adapter that covers it has it called.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					FoundOther  | returns java.lang.Integer,                  | Change its return type to java.lang.String, with null or empty
					FoundAsOne  | returns java.util.List<java.lang.String>,   | Change its return type to
					FoundVoid   | returns java.lang.Void,                     | Change its return type to java.lang.String
					""")
	void recoverMethodOfASuspendHandlerGivesWhatTheHandlerGives(String bean, String problem, String action)
			throws ClassNotFoundException {
		Class<?> controller = Class.forName(UnfinishedWorkTests.class.getName() + "$" + bean);
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(HandlerAdapter.class)) {
			IdempotentOperationSource source = context.getBean(IdempotentOperationSource.class);
			assertThatExceptionOfType(IdempotencyConfigurationException.class)
				.isThrownBy(() -> source.check(controller))
				.withMessageContaining(bean)
				.withMessageContaining("its recover method 'find' " + problem)
				.satisfies((failure) -> assertThat(failure.action()).contains(action));
			source.check(Found.class);
		}
	}

	static class Found {

		@Idempotent(key = "#key", recover = "find")
		public Object run(String key, Continuation<? super String> continuation) {
			return key;
		}

		Object find(String key, Continuation<? super String> continuation) {
			return key;
		}

	}

	static class FoundOther {

		@Idempotent(key = "#key", recover = "find")
		public Object run(String key, Continuation<? super String> continuation) {
			return key;
		}

		Object find(String key, Continuation<? super Integer> continuation) {
			return 1;
		}

	}

	static class FoundAsOne {

		@Idempotent(key = "#key", recover = "find")
		public Object run(String key, Continuation<? super Flux<String>> continuation) {
			return Flux.just(key);
		}

		Object find(String key, Continuation<? super List<String>> continuation) {
			return List.of(key);
		}

	}

	static class FoundVoid {

		@Idempotent(key = "#key", recover = "find")
		public Object run(String key, Continuation<? super String> continuation) {
			return key;
		}

		Object find(String key, Continuation<? super Void> continuation) {
			return key;
		}

	}

	static class LockMono {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public Mono<String> run(String key) {
			return Mono.just(key);
		}

	}

	static class LockFlux {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public Flux<String> run(String key) {
			return Flux.just(key);
		}

	}

	static class LockStream {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public Stream<String> run(String key) {
			return Stream.of(key);
		}

	}

	static class LockIntStream {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public IntStream run(String key) {
			return key.chars();
		}

	}

	static class LockFuture {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public Future<String> run(String key) {
			return CompletableFuture.completedFuture(key);
		}

	}

	static class LockScheduledFuture {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public ScheduledFuture<String> run(String key) {
			throw new IllegalStateException(key);
		}

	}

	interface OwnPublisher<T> extends Publisher<T> {

	}

	interface OwnerPublisher extends OwnPublisher<String> {

	}

	static class LockOwnPublisher {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public OwnerPublisher run(String key) {
			throw new IllegalStateException(key);
		}

	}

	static class LockFutureOfFuture {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public CompletableFuture<CompletableFuture<String>> run(String key) {
			throw new IllegalStateException(key);
		}

	}

	static class LockFutureOfMono {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public CompletableFuture<Mono<String>> run(String key) {
			throw new IllegalStateException(key);
		}

	}

	static class LockListOfFutures {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public List<? extends CompletableFuture<String>> run(String key) {
			return List.of();
		}

	}

	static class LockMapOfFutures {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public Map<String, Future<String>> run(String key) {
			return Map.of();
		}

	}

	static class LockArrayOfFutures {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public Future<?>[] run(String key) {
			return new Future<?>[0];
		}

	}

	static class LockOptionalMono {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public Optional<Mono<String>> run(String key) {
			return Optional.empty();
		}

	}

	static class RejectMono {

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT)
		public Mono<Void> run(String key) {
			return Mono.empty();
		}

	}

	static class JoinMono {

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT, transaction = TransactionMode.JOIN, store = "joining")
		public Mono<Void> run(String key) {
			return Mono.empty();
		}

		@Bean(autowireCandidate = false)
		static TestStore joining() {
			return new StartupFailureTests.JoiningStore();
		}

		@Bean
		static PlatformTransactionManager transactionManager() {
			return mock(PlatformTransactionManager.class);
		}

	}

	static class ReplayMono {

		@Idempotent("#key")
		public Mono<String> run(String key) {
			return Mono.just(key);
		}

	}

	static class LockSuspend {

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public Object run(String key, Continuation<? super String> continuation) {
			return key;
		}

	}

	static class RejectSuspend {

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT)
		public Object run(String key, Continuation<? super String> continuation) {
			return key;
		}

	}

	static class ReplaySuspend {

		@Idempotent("#key")
		public Object run(String key, Continuation<? super String> continuation) {
			return key;
		}

	}

	static class JoinSuspend {

		@Idempotent(key = "#key", mode = IdempotencyMode.REJECT, transaction = TransactionMode.JOIN, store = "joining")
		public Object run(String key, Continuation<? super String> continuation) {
			return key;
		}

		@Bean(autowireCandidate = false)
		static TestStore joining() {
			return new StartupFailureTests.JoiningStore();
		}

		@Bean
		static PlatformTransactionManager transactionManager() {
			return mock(PlatformTransactionManager.class);
		}

	}

	interface Answers {

		ResponseEntity<Flux<String>> reactive();

	}

	/** Promises to keep whatever there is. */
	static class AnyCodec {

		@Bean
		@Primary
		static ResultCodec anyCodec() {
			return new ResultCodec() {

				@Override
				public StoredResult encode(Object value, Type type) {
					return new StoredResult("any1", new byte[0]);
				}

				@Override
				public Object decode(StoredResult result, Type type) {
					return "";
				}

				@Override
				public String unsupported(Type type) {
					return null;
				}

			};
		}

	}

	static class HandlerAdapter implements InvocationAdapter {

		@Override
		public OperationTraits traits(Method method, Class<?> targetClass) {
			return OperationTraits.of(OperationTraits.Flag.HANDLER);
		}

		@Override
		public boolean supports(OperationCall call) {
			return false;
		}

		@Override
		public Object invoke(OperationCall call) {
			throw new IllegalStateException();
		}

	}

}
