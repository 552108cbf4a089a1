package io.idempotency.samples.shop.messages;

/**
 * What is said about an order.
 *
 * @param id the same however often the message is sent: its {@code Idempotency-Key}
 * @param orderNo the order
 */
record OrderMessage(String id, String orderNo) {

	/** Name of the topic and of the queue. */
	static final String ORDER_PLACED = "order-placed";

	/** Name of the header with the id. */
	static final String KEY = "Idempotency-Key";

}
