package io.idempotency.samples.shop.messages;

/**
 * Sends messages to one broker.
 */
interface OrderPublisher {

	/** Returns the name of the broker on the page. */
	String broker();

	/**
	 * Sends a message, and returns when the broker has it.
	 * @throws RuntimeException if that is not certain
	 */
	void publish(OrderMessage message);

}
