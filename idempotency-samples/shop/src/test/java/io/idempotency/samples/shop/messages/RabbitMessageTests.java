package io.idempotency.samples.shop.messages;

import org.springframework.test.context.ActiveProfiles;

@ActiveProfiles("rabbit")
class RabbitMessageTests extends MessageTests {

	@Override
	String broker() {
		return "RabbitMQ";
	}

}
