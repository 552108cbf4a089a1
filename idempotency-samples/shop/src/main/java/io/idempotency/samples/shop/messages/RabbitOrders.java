package io.idempotency.samples.shop.messages;

import io.idempotency.ConflictMode;
import io.idempotency.Idempotent;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.annotation.RabbitListener;

/**
 * Fulfils each order once, however often RabbitMQ delivers its message. A duplicate waits
 * for a first delivery that is in progress. If it were returned, it would be delivered
 * again at once.
 */
class RabbitOrders {

	private final Warehouse warehouse;

	RabbitOrders(Warehouse warehouse) {
		this.warehouse = warehouse;
	}

	@RabbitListener(queues = OrderMessage.ORDER_PLACED)
	@Idempotent(header = OrderMessage.KEY, operation = "order.fulfil", scope = "'warehouse'", retention = "7d",
			conflict = ConflictMode.WAIT)
	public void onOrderPlaced(String orderNo, Message message) {
		this.warehouse.fulfil(orderNo);
	}

}
