package io.idempotency.samples.shop.messages;

/**
 * The message of an order.
 *
 * @param id the {@code Idempotency-Key}, the same each time the message is sent
 * @param orderNo the order
 */
record OrderMessage(String id, String orderNo) {

	/** Name of the topic and of the queue. */
	static final String ORDER_PLACED = "order-placed";

	/** Name of the header with the id. */
	static final String KEY = "Idempotency-Key";

}
