package io.idempotency.protocol;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.modifier.Visibility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Each shape of a type, with work that may go on and without. */
class DeferredResultsTests {

	@Test
	void workMayGoOnAfterEachOfThese() {
		for (Method method : Deferred.class.getDeclaredMethods()) {
			assertThat(DeferredResults.include(method.getGenericReturnType())).as(method.getName()).isTrue();
		}
	}

	@Test
	void whatHasItsResultAtOnceIsNoneOfThem() {
		for (Method method : Finished.class.getDeclaredMethods()) {
			assertThat(DeferredResults.include(method.getGenericReturnType())).as(method.getName()).isFalse();
		}
	}

	@Test
	void suspendFunctionIsKnownByItsLastParameter() throws ReflectiveOperationException {
		Class<?> continuation = new ByteBuddy().makeInterface()
			.name("kotlin.coroutines.Continuation")
			.make()
			.load(getClass().getClassLoader())
			.getLoaded();
		Class<?> functions = new ByteBuddy().makeInterface()
			.defineMethod("suspend", Object.class, Visibility.PUBLIC)
			.withParameters(String.class, continuation)
			.withoutCode()
			.defineMethod("begin", Object.class, Visibility.PUBLIC)
			.withParameters(continuation, String.class)
			.withoutCode()
			.make()
			.load(continuation.getClassLoader())
			.getLoaded();
		assertThat(DeferredResults.isSuspend(functions.getMethod("suspend", String.class, continuation))).isTrue();
		assertThat(DeferredResults.isSuspend(functions.getMethod("begin", continuation, String.class))).isFalse();
		assertThat(DeferredResults.isSuspend(Finished.class.getDeclaredMethod("text"))).isFalse();
	}

	@SuppressWarnings("unused")
	interface Deferred {

		Future<String> future();

		Callable<String> callable();

		ScheduledFuture<String> extended();

		IntStream numbers();

		OwnFuture own();

		OwnFuture[] array();

		Future<?>[] genericArray();

		List<OwnFuture> list();

		Map<String, Future<String>> map();

		List<? extends Future<String>> wildcard();

		List<Optional<OwnFuture[]>> nested();

		<T extends OwnFuture> T variable();

	}

	@SuppressWarnings("unused")
	interface Finished {

		String text();

		void nothing();

		Runnable runnable();

		Object any();

		String[] array();

		List<String>[] genericArray();

		List<? extends Number> wildcard();

		List<Map<String, Optional<String[]>>> nested();

		/** Nobody looks for what it would hand out. */
		Supplier<Future<String>> supplier();

		<T extends Number> T variable();

		<T extends Comparable<T>> T boundByItself();

	}

	static class OwnFuture extends CompletableFuture<String> {

	}

}
