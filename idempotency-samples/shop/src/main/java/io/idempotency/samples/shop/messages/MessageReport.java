package io.idempotency.samples.shop.messages;

import java.util.List;

/**
 * The messages that the brokers delivered, and their effects.
 */
record MessageReport(List<String> brokers, List<Line> messages) {

	/**
	 * How often each thing happened about one order.
	 */
	record Line(String orderNo, int delivered, int reserved, int mailed, int counted) {
	}

}
