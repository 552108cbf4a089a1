package io.idempotency.samples.shop.messages;

import java.util.List;

/**
 * What brokers delivered, and what came of it.
 */
record MessageReport(List<String> brokers, List<Line> messages) {

	/**
	 * How often each thing happened about one order.
	 */
	record Line(String orderNo, int delivered, int reserved, int mailed, int counted) {
	}

}
