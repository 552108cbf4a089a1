package io.idempotency.message.kafka;

import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.store.Causes;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Lets an error handler of Kafka deliver a record again for as long as its first call
 * still runs or the store is down; for
 * {@code DefaultErrorHandler.setBackOffFunction(new KafkaBackOff())}.
 * <p>
 * Without it such a record counts as failed after the handler's own number of tries, and
 * is skipped or put aside. But the other call with its key may fail, too, and then nobody
 * has processed the record. Immutable and thread-safe.
 * <p>
 * The pauses grow from one second to ten. All other exceptions have the back-off of the
 * error handler. That back-off must allow one more try at least, because an error handler
 * that never tries again asks no function. Nor does one that classifies exceptions, for
 * those that it does not try again: name {@link IdempotencyInProgressException} and
 * {@link IdempotencyStoreUnavailableException} in {@code addRetryableExceptions} of a
 * handler that is set up by hand.
 *
 * @since 0.1.0
 */
public final class KafkaBackOff implements BiFunction<ConsumerRecord<?, ?>, Exception, @Nullable BackOff> {

	private static final List<Class<? extends Exception>> UNDECIDED = List.of(IdempotencyInProgressException.class,
			IdempotencyStoreUnavailableException.class);

	private static final long FIRST_MILLIS = 1_000;

	private static final long LONGEST_MILLIS = 10_000;

	private static final double FACTOR = 2;

	private final @Nullable BiFunction<ConsumerRecord<?, ?>, Exception, @Nullable BackOff> first;

	/**
	 * Creates the function.
	 */
	public KafkaBackOff() {
		this(null);
	}

	private KafkaBackOff(@Nullable BiFunction<ConsumerRecord<?, ?>, Exception, @Nullable BackOff> first) {
		this.first = first;
	}

	/**
	 * Lets a handler ask for this back-off where its own function decides nothing. A
	 * handler that classifies exceptions asks no function for those that it never tries
	 * again.
	 * @return whether the handler asks; one that never tries again does not
	 */
	@SuppressWarnings("unchecked")
	static boolean giveTo(FailedRecordProcessor handler) {
		Object first = KafkaErrorHandling.value(handler, FailedRecordProcessor.class, "userBackOffFunction");
		if (first == null) {
			return false;
		}
		if (!(first instanceof KafkaBackOff)) {
			handler.setBackOffFunction(
					new KafkaBackOff((BiFunction<ConsumerRecord<?, ?>, Exception, @Nullable BackOff>) first));
		}
		UNDECIDED.forEach(handler::addRetryableExceptions);
		Object tracker = KafkaErrorHandling.value(handler, FailedRecordProcessor.class, "failureTracker");
		return tracker == null
				|| !Boolean.TRUE.equals(KafkaErrorHandling.value(tracker, tracker.getClass(), "noRetries"));
	}

	/**
	 * Returns the back-off of a failed record.
	 * @param record the record
	 * @param failure the exception of its listener
	 * @return a back-off without an end, {@code null} for the back-off of the error
	 * handler
	 */
	@Override
	public @Nullable BackOff apply(ConsumerRecord<?, ?> record, Exception failure) {
		BackOff chosen = (this.first != null) ? this.first.apply(record, failure) : null;
		return (chosen == null && isUndecided(failure)) ? withoutEnd() : chosen;
	}

	private static BackOff withoutEnd() {
		ExponentialBackOff backOff = new ExponentialBackOff(FIRST_MILLIS, FACTOR);
		backOff.setMaxInterval(LONGEST_MILLIS);
		return backOff;
	}

	/** Returns whether the first call of a message still runs, or its store is down. */
	static boolean isUndecided(@Nullable Throwable failure) {
		return Causes.of(failure).anyMatch((cause) -> UNDECIDED.stream().anyMatch((type) -> type.isInstance(cause)));
	}

	/** Returns whether a type is one of those exceptions, or one of their supertypes. */
	static boolean isUndecided(Class<?> type) {
		return UNDECIDED.stream().anyMatch(type::isAssignableFrom);
	}

	/** Returns whether the retry topics of an annotation do not take one of those. */
	static boolean isLeftOutOf(RetryableTopic topics) {
		Set<String> included = names(topics.include(), topics.includeNames());
		Set<String> excluded = names(topics.exclude(), topics.excludeNames());
		return UNDECIDED.stream()
			.anyMatch((type) -> !included.isEmpty() && !isNamed(included, type) || isNamed(excluded, type));
	}

	private static Set<String> names(Class<?>[] types, String[] names) {
		return Stream.concat(Stream.of(types).map(Class::getName), Stream.of(names)).collect(Collectors.toSet());
	}

	private static boolean isNamed(Set<String> names, @Nullable Class<?> type) {
		return type != null && (names.contains(type.getName()) || isNamed(names, type.getSuperclass()));
	}

}
