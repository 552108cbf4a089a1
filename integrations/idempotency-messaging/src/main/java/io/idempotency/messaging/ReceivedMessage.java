package io.idempotency.messaging;

import java.util.List;

import org.jspecify.annotations.Nullable;

/** The parts of a message that keys are read from. */
interface ReceivedMessage {

	/**
	 * Returns the values of a header in their order.
	 * @param name the name, in any case
	 */
	List<Object> headers(String name);

	/**
	 * Returns the id, which is the same for each delivery of this message.
	 * @return the id, {@code null} if the message has none
	 */
	@Nullable String id();

	/**
	 * Returns the queue that the message comes from.
	 * @return the queue, {@code null} if the message does not contain it
	 */
	default @Nullable String queue() {
		return null;
	}

	/**
	 * Returns the payload.
	 * @return the payload, {@code null} if it is empty
	 */
	@Nullable Object payload();

}
