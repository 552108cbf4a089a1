package io.idempotency.message;

import io.idempotency.aop.OperationCall;
import org.jspecify.annotations.Nullable;

/**
 * A kind of broker: what listeners of it have in common. Thread-safe. The classes that
 * implement it need those of the broker, so each is loaded for the first listener of that
 * broker and not before.
 */
interface Broker {

	/**
	 * Refuses a listener that could not be spoken for. Is called at start-up, right
	 * before the containers start.
	 * @param listener the listener
	 * @throws io.idempotency.IdempotencyConfigurationException if it cannot be guarded;
	 * the message names the method and the cure
	 */
	default void check(Listener listener) {
	}

	/**
	 * Begins a delivery.
	 * @param listener the listener
	 * @param call the call of its method
	 * @param message the message, as far as the arguments carry it
	 * @return the delivery, for this call alone
	 */
	Delivery delivery(Listener listener, OperationCall call, ReceivedMessage message);

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

}
