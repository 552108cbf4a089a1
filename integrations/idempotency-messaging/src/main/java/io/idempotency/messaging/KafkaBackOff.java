package io.idempotency.messaging;

import java.lang.reflect.Field;
import java.util.List;
import java.util.function.BiFunction;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.store.Causes;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Lets a Kafka error handler deliver a record again while its first call is in progress
 * or the store is unavailable:
 *
 * <pre class="code">
 * handler.setBackOffFunction(new KafkaBackOff());
 * handler.addRetryableExceptions(IdempotencyInProgressException.class, IdempotencyStoreUnavailableException.class);
 * </pre>
 *
 * Without it, the handler gives up on such a record after its number of attempts. If the
 * other call then fails, the record is lost.
 * <p>
 * The pauses grow from one second to ten. All other exceptions use the backoff of the
 * error handler. That backoff must allow at least one more attempt, because an error
 * handler that never retries does not call the function. A handler that classifies
 * exceptions calls it for retryable exceptions only. Immutable and thread-safe.
 *
 * @since 0.1.0
 */
public final class KafkaBackOff implements BiFunction<ConsumerRecord<?, ?>, Exception, @Nullable BackOff> {

	private static final List<Class<? extends Exception>> UNDECIDED = List.of(IdempotencyInProgressException.class,
			IdempotencyStoreUnavailableException.class);

	private static final long FIRST_MILLIS = 1_000;

	private static final long LONGEST_MILLIS = 10_000;

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

	/** Adds this backoff to a handler, after the function that the handler has. */
	@SuppressWarnings("unchecked")
	static void addTo(FailedRecordProcessor handler) {
		Field field = ReflectionUtils.findField(FailedRecordProcessor.class, "userBackOffFunction");
		if (field == null) {
			return;
		}
		ReflectionUtils.makeAccessible(field);
		Object first = ReflectionUtils.getField(field, handler);
		if (!(first instanceof KafkaBackOff)) {
			handler.setBackOffFunction(
					new KafkaBackOff((BiFunction<ConsumerRecord<?, ?>, Exception, @Nullable BackOff>) first));
		}
		UNDECIDED.forEach(handler::addRetryableExceptions);
	}

	/**
	 * Returns the backoff of a failed record.
	 * @param record the record
	 * @param failure the exception of its listener
	 * @return a backoff without an end, {@code null} for the backoff of the error handler
	 */
	@Override
	public @Nullable BackOff apply(ConsumerRecord<?, ?> record, Exception failure) {
		BackOff chosen = (this.first != null) ? this.first.apply(record, failure) : null;
		if (chosen != null || !isUndecided(failure)) {
			return chosen;
		}
		ExponentialBackOff backOff = new ExponentialBackOff(FIRST_MILLIS, 2);
		backOff.setMaxInterval(LONGEST_MILLIS);
		return backOff;
	}

	/**
	 * Returns whether the first call of a message is in progress, or its store is
	 * unavailable.
	 */
	static boolean isUndecided(@Nullable Throwable failure) {
		return Causes.of(failure).anyMatch((cause) -> UNDECIDED.stream().anyMatch((type) -> type.isInstance(cause)));
	}

}
