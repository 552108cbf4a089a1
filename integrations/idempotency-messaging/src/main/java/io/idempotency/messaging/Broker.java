package io.idempotency.messaging;

import io.idempotency.interceptor.OperationCall;
import org.jspecify.annotations.Nullable;

/**
 * The common behavior of the listeners of a kind of broker. Thread-safe. The
 * implementations need classes of the broker, so each is loaded for the first listener of
 * that broker.
 */
interface Broker {

	/**
	 * Checks a listener against its container. Is called at startup, after all containers
	 * are created and before they start.
	 * @throws io.idempotency.IdempotencyConfigurationException if it cannot be guarded
	 */
	void check(GuardedListener listener);

	/**
	 * Begins a delivery.
	 * @param call the call of the listener method
	 * @return the delivery, for this call alone
	 */
	Delivery delivery(OperationCall call, ReceivedMessage message, GuardedListener listener);

	/**
	 * Returns the consumer group of the current thread.
	 * @return the group, {@code null} without a group
	 */
	default @Nullable String group() {
		return null;
	}

	/** Returns whether the container of the current thread repeats records of a topic. */
	default boolean repeats(String topic) {
		return false;
	}

}
