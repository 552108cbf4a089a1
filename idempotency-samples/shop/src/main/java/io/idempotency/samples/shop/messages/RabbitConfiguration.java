package io.idempotency.samples.shop.messages;

import java.nio.charset.StandardCharsets;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Orders over RabbitMQ: that of {@code spring.rabbitmq.*}, or else a broker inside the
 * shop that speaks its protocol.
 */
@Configuration(proxyBeanMethods = false)
@Profile("rabbit")
@Import(RabbitOrders.class)
class RabbitConfiguration {

	private static final long PATIENCE_MILLIS = 10_000;

	@Bean
	static EmbeddedRabbit embeddedRabbit(ConfigurableEnvironment environment) {
		return new EmbeddedRabbit(environment);
	}

	@Bean
	Queue orderPlaced() {
		return new Queue(OrderMessage.ORDER_PLACED);
	}

	/**
	 * Runs before the guard, so that it also sees duplicates. The customizer of Spring
	 * AMQP would have to be compiled separately for each Spring Boot version.
	 */
	@Bean
	static BeanPostProcessor countingDeliveriesOfRabbit(ObjectProvider<Warehouse> warehouse) {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String name) {
				if (bean instanceof SimpleRabbitListenerContainerFactory factory) {
					factory.setAfterReceivePostProcessors((received) -> {
						warehouse.getObject().delivered(text(received));
						return received;
					});
				}
				return bean;
			}

		};
	}

	private static String text(Message message) {
		return new String(message.getBody(), StandardCharsets.UTF_8);
	}

	@Bean
	OrderPublisher rabbitPublisher(RabbitTemplate rabbit) {
		return new OrderPublisher() {

			@Override
			public String broker() {
				return "RabbitMQ";
			}

			@Override
			public void publish(OrderMessage message) {
				rabbit.invoke((operations) -> {
					operations.convertAndSend("", OrderMessage.ORDER_PLACED, message.orderNo(), (sent) -> {
						sent.getMessageProperties().setHeader(OrderMessage.KEY, message.id());
						return sent;
					});
					operations.waitForConfirmsOrDie(PATIENCE_MILLIS);
					return true;
				});
			}

		};
	}

}
