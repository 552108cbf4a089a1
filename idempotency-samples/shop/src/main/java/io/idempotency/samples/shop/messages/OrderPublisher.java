package io.idempotency.samples.shop.messages;

/**
 * Sends messages to one broker.
 */
interface OrderPublisher {

	/** What the page calls the broker. */
	String broker();

	/**
	 * Sends a message, and returns when the broker has it.
	 * @throws RuntimeException if that is not certain
	 */
	void publish(OrderMessage message);

}
