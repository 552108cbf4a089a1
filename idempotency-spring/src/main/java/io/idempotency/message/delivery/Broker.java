package io.idempotency.message.delivery;

import io.idempotency.Internal;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.OperationCall;
import org.jspecify.annotations.Nullable;

/**
 * A kind of broker: what listeners of it have in common. Thread-safe. The classes that
 * implement it need those of the broker, so each is loaded for the first listener of that
 * broker and not before.
 *
 * @hidden
 */
@Internal
public interface Broker {

	/**
	 * Refuses a listener that could not be spoken for. Is called at start-up, right
	 * before the containers start.
	 * @param source where it gets its messages from, {@code null} if its annotation does
	 * not tell
	 * @throws io.idempotency.IdempotencyConfigurationException if it cannot be guarded;
	 * the message names the method and the cure
	 */
	default void check(IdempotentOperation operation, @Nullable String source) {
	}

	/**
	 * Begins a delivery.
	 * @param call the call of the listener's method
	 * @param message the message, as far as the arguments carry it
	 * @param source where the listener gets its messages from, {@code null} if its
	 * annotation does not tell
	 * @return the delivery, for this call alone
	 */
	Delivery delivery(OperationCall call, ReceivedMessage message, @Nullable String source);

	/**
	 * Returns whether containers deliver a message again whose listener returns a future
	 * that fails. Otherwise they must hear of a refusal by an exception, at once.
	 */
	default boolean redeliversFailedFutures() {
		return true;
	}

	/**
	 * Returns the name of those who share the message with the current thread, where
	 * neither the message nor the annotation has it.
	 * @return the consumer group, {@code null} if there is none
	 */
	default @Nullable String group() {
		return null;
	}

	/**
	 * Returns whether the current thread gets what has failed in another topic first.
	 */
	default boolean repeats(String topic) {
		return false;
	}

}
