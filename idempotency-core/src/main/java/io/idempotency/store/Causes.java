package io.idempotency.store;

import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over the causes of an exception, at most {@value #MAX_DEPTH}, because the
 * causes may be cyclic.
 *
 * @hidden
 */
@Internal
public final class Causes {

	private static final int MAX_DEPTH = 32;

	private Causes() {
	}

	/**
	 * Ignores a getCause method that throws, so that the guarded call still completes.
	 */
	private static @Nullable Throwable cause(Throwable failure) {
		try {
			return failure.getCause();
		}
		catch (Throwable ex) {
			return null;
		}
	}

	/**
	 * Returns an exception and its causes.
	 * @return the exception and its causes, empty for {@code null}
	 */
	public static Stream<Throwable> of(@Nullable Throwable failure) {
		return Stream.<@Nullable Throwable>iterate(failure, Objects::nonNull, Causes::cause)
			.limit(MAX_DEPTH)
			.map(Objects::requireNonNull);
	}

	/**
	 * Returns the innermost cause.
	 * @param failure the exception
	 * @return the cause, or the exception itself if it has none
	 */
	public static Throwable root(Throwable failure) {
		return of(failure).reduce(failure, (outer, inner) -> inner);
	}

	/**
	 * Returns the first exception that is not a wrapper.
	 * @param wraps returns whether an exception only wraps its cause
	 * @return the exception or one of its causes
	 */
	public static Throwable unwrap(Throwable failure, Predicate<Throwable> wraps) {
		return of(failure).filter((each) -> !wraps.test(each) || cause(each) == null).findFirst().orElse(failure);
	}

}
