package io.idempotency.messaging;

import io.idempotency.Idempotent;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.key.Caller;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.kafka.annotation.KafkaListener;

import static org.assertj.core.api.Assertions.assertThat;

class ListenerCallerTests {

	/** The scopes are part of stored keys: another one makes deliveries run again. */
	@ParameterizedTest
	@CsvSource({ "kafka, KAFKA:billing", "rabbit, RABBIT:orders", "jms, JMS:orders", "topic, JMS:news/billing" })
	void scopeThatIsPartOfAKeyNeverChanges(String listener, String scope) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withPropertyValues("idempotency.store=memory")
			.withBean(Listeners.class)
			.run((context) -> {
				IdempotentOperation operation = context.getBean(IdempotentOperationSource.class)
					.operation(Listeners.class.getMethod(listener, String.class), Listeners.class);
				assertThat(operation).isNotNull();
				assertThat(GuardedListener.of(operation, (name) -> name)).isNotNull()
					.extracting((found) -> found.caller(SpringMessage.UNKNOWN, () -> "billing"))
					.isEqualTo(Caller.scope(scope));
			});
	}

	static class Listeners {

		@KafkaListener(topics = "orders")
		@Idempotent(key = "#order")
		public void kafka(String order) {
		}

		@RabbitListener(queues = "orders")
		@Idempotent(key = "#order")
		public void rabbit(String order) {
		}

		@JmsListener(destination = "orders")
		@Idempotent(key = "#order")
		public void jms(String order) {
		}

		@JmsListener(destination = "news", subscription = "billing")
		@Idempotent(key = "#order")
		public void topic(String order) {
		}

	}

}
