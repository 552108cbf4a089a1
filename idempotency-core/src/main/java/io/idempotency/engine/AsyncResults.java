package io.idempotency.engine;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.Internal;
import io.idempotency.engine.GuardedAction.GuardSignal;
import io.idempotency.store.Causes;
import org.jspecify.annotations.Nullable;

/**
 * Reads the values and the failures of futures.
 *
 * @hidden
 */
@Internal
public final class AsyncResults {

	private AsyncResults() {
	}

	/**
	 * Returns the failure of the work, without the exceptions that futures wrap around
	 * it, however many there are.
	 * @param failure the failure that a future reports
	 * @return the cause, or the failure itself if nothing wraps it
	 */
	public static Throwable cause(Throwable failure) {
		return Causes.unwrap(failure, AsyncResults::isWrapper);
	}

	/** Returns the failure of a future that failed already, else {@code null}. */
	static @Nullable Throwable failureOf(@Nullable Object value) {
		if (!(value instanceof CompletableFuture<?> future) || !future.isCompletedExceptionally()) {
			return null;
		}
		return future.handle((result, failure) -> failure).join();
	}

	private static boolean isWrapper(Throwable failure) {
		return failure instanceof CompletionException || failure instanceof ExecutionException;
	}

	/**
	 * Returns whether a failure of a guarded method, or the failure that futures wrapped,
	 * means "already done". Exceptions of the guard itself never mean that.
	 * @param duplicate tests a failure. If it throws, its exception is added to the
	 * failure and the method returns {@code false}, because the call must end
	 */
	public static boolean isDuplicate(Predicate<Throwable> duplicate, Throwable failure) {
		try {
			Throwable cause = cause(failure);
			return !GuardSignal.is(cause) && (duplicate.test(failure) || duplicate.test(cause));
		}
		catch (Throwable ex) {
			if (ex != failure) {
				failure.addSuppressed(ex);
			}
			return false;
		}
	}

	/**
	 * Returns whether the owner of a future gave it up. Such a failure does not show
	 * whether the work was done.
	 * @param cause the result of {@link #cause}
	 * @return whether the future was cancelled or timed out
	 */
	public static boolean isGivenUp(Throwable cause) {
		return cause instanceof CancellationException || cause instanceof TimeoutException;
	}

	/**
	 * Returns the value itself. If the value is a future, waits for it and returns the
	 * value inside.
	 * @throws Throwable the failure of the future
	 */
	static @Nullable Object await(@Nullable Object value) throws Throwable {
		if (!(value instanceof CompletionStage<?> stage)) {
			return value;
		}
		try {
			return stage.toCompletableFuture().get();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new CancellationException("Interrupted during the lookup of an earlier result");
		}
		catch (ExecutionException ex) {
			throw cause(ex);
		}
	}

	@SuppressWarnings("unchecked")
	static <T> T future(CompletableFuture<?> future) {
		return (T) future;
	}

	/**
	 * Recognizes the types of results whose work continues, or only begins, after the
	 * method returned.
	 *
	 * @hidden
	 */
	public static final class DeferredResults {

		private static final Set<String> TYPES = Set.of("java.util.concurrent.Callable", "java.util.concurrent.Future",
				"java.util.concurrent.CompletionStage", "java.util.concurrent.Flow$Publisher",
				"java.util.stream.BaseStream");

		/**
		 * Types that contain other values. A result of such a type also returns its
		 * content.
		 */
		private static final Set<String> CONTAINERS = Set.of("java.lang.Iterable", "java.util.Map",
				"java.util.Optional");

		/** The types of the JDK. */
		public static final DeferredResults OF_JDK = new DeferredResults(TYPES, CONTAINERS);

		private final Set<String> types;

		private final Set<String> containers;

		private DeferredResults(Set<String> types, Set<String> containers) {
			this.types = types;
			this.containers = containers;
		}

		/**
		 * Adds types by name, because the types may be missing on the class path.
		 * @param types the names of types whose work continues after the return
		 * @param containers the names of types that hold other values
		 */
		public DeferredResults and(Set<String> types, Set<String> containers) {
			return new DeferredResults(union(this.types, types), union(this.containers, containers));
		}

		private static Set<String> union(Set<String> one, Set<String> other) {
			return Stream.concat(one.stream(), other.stream()).collect(Collectors.toUnmodifiableSet());
		}

		/**
		 * Returns whether a result has such a type, or contains a value of such a type.
		 * @param type declared type of the result
		 * @return whether the work may continue after the method returned
		 */
		public boolean include(Type type) {
			if (type instanceof Class<?> raw) {
				return isOneOf(this.types, raw) || raw.isArray() && include(raw.getComponentType());
			}
			if (type instanceof ParameterizedType generic) {
				Class<?> raw = (Class<?>) generic.getRawType();
				return include(raw) || isOneOf(this.containers, raw)
						&& Arrays.stream(generic.getActualTypeArguments()).anyMatch(this::include);
			}
			if (type instanceof GenericArrayType array) {
				return include(array.getGenericComponentType());
			}
			if (type instanceof WildcardType wildcard) {
				return include(wildcard.getUpperBounds()[0]);
			}
			// A type variable may be bounded by itself, so only a bound that is a class
			// is checked.
			return type instanceof TypeVariable<?> variable && variable.getBounds()[0] instanceof Class<?> bound
					&& include(bound);
		}

		private static boolean isOneOf(Set<String> names, Class<?> type) {
			if (names.contains(type.getName())) {
				return true;
			}
			Class<?> parent = type.getSuperclass();
			return parent != null && isOneOf(names, parent)
					|| Arrays.stream(type.getInterfaces()).anyMatch((candidate) -> isOneOf(names, candidate));
		}

	}

}
