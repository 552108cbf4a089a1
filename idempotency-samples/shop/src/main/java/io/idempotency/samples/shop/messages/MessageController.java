package io.idempotency.samples.shop.messages;

import java.util.List;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows deliveries and effects. Without a broker, both are empty.
 */
@RestController
@RequestMapping("/api/messages")
class MessageController {

	private final List<String> brokers;

	private final ObjectProvider<Warehouse> warehouse;

	MessageController(ObjectProvider<OrderPublisher> publishers, ObjectProvider<Warehouse> warehouse) {
		this.brokers = publishers.orderedStream().map(OrderPublisher::broker).toList();
		this.warehouse = warehouse;
	}

	@GetMapping
	MessageReport report() {
		Warehouse open = this.warehouse.getIfAvailable();
		return new MessageReport(this.brokers, (open != null) ? open.newest() : List.of());
	}

}
