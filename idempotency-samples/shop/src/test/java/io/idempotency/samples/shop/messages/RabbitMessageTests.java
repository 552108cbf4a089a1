package io.idempotency.samples.shop.messages;

import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

@ActiveProfiles("rabbit")
@DirtiesContext
class RabbitMessageTests extends MessageTests {

	@Override
	String broker() {
		return "RabbitMQ";
	}

}
