package io.idempotency.engine;

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

import io.idempotency.engine.AsyncResults.DeferredResults;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Each shape of a type, with work that may go on and without. */
class DeferredResultsTests {

	@Test
	void workMayGoOnAfterEachOfThese() {
		for (Method method : Deferred.class.getDeclaredMethods()) {
			assertThat(DeferredResults.OF_JDK.include(method.getGenericReturnType())).as(method.getName()).isTrue();
		}
	}

	@Test
	void whatHasItsResultAtOnceIsNoneOfThem() {
		for (Method method : Finished.class.getDeclaredMethods()) {
			assertThat(DeferredResults.OF_JDK.include(method.getGenericReturnType())).as(method.getName()).isFalse();
		}
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
