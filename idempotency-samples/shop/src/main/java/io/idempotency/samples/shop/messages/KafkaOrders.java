package io.idempotency.samples.shop.messages;

import io.idempotency.Idempotent;
import org.apache.kafka.clients.consumer.ConsumerRecord;

import org.springframework.kafka.annotation.KafkaListener;

/**
 * Fulfils each order once, however often Kafka delivers its message. The scope is that of
 * {@link RabbitOrders}: where both brokers are on, the first of them wins.
 */
class KafkaOrders {

	private final Warehouse warehouse;

	KafkaOrders(Warehouse warehouse) {
		this.warehouse = warehouse;
	}

	@KafkaListener(topics = OrderMessage.ORDER_PLACED, groupId = "warehouse")
	@Idempotent(header = OrderMessage.KEY, operation = "order.fulfil", scope = "'warehouse'", retention = "7d")
	public void onOrderPlaced(ConsumerRecord<String, String> message) {
		this.warehouse.fulfil(message.value());
	}

}
