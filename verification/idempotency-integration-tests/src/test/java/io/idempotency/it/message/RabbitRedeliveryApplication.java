package io.idempotency.it.message;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

import com.rabbitmq.client.Channel;
import io.idempotency.ConflictMode;
import io.idempotency.Idempotent;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.core.Declarables;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.QueueBuilder;
import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.handler.annotation.Header;

/** Guarded listeners of queues as only RabbitMQ has them, made anew at each start. */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableRabbit
@Import({ Deliveries.class, RabbitRedeliveryApplication.Payloads.class, RabbitRedeliveryApplication.Listeners.class })
class RabbitRedeliveryApplication {

	static final String DEAD_LETTERS = "dead-letters";

	@Bean
	CachingConnectionFactory rabbitConnectionFactory() throws Exception {
		return RabbitServer.connections();
	}

	@Bean
	RabbitTemplate rabbitTemplate(ConnectionFactory connections) {
		RabbitTemplate template = new RabbitTemplate(connections);
		template.setReceiveTimeout(30_000);
		return template;
	}

	@Bean
	AmqpAdmin amqpAdmin(ConnectionFactory connections) {
		return new RabbitAdmin(connections);
	}

	@Bean
	Declarables queues() {
		return new Declarables(QueueBuilder.nonDurable(DEAD_LETTERS).exclusive().build(),
				QueueBuilder.nonDurable("keyless-redelivery")
					.autoDelete()
					.withArguments(deadLetters(DEAD_LETTERS))
					.build(),
				QueueBuilder.nonDurable("keyless-later").autoDelete().withArguments(deadLetters(DEAD_LETTERS)).build(),
				QueueBuilder.durable("poisoned")
					.quorum()
					.deliveryLimit(2)
					.withArguments(deadLetters(DEAD_LETTERS))
					.build(),
				QueueBuilder.nonDurable("sent-back").autoDelete().build(),
				QueueBuilder.nonDurable("sent-back-manually").autoDelete().build(),
				QueueBuilder.durable("limited").quorum().deliveryLimit(2).build(),
				QueueBuilder.nonDurable("cut").build());
	}

	private static Map<String, Object> deadLetters(String queue) {
		return Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", queue);
	}

	@Bean
	SimpleRabbitListenerContainerFactory rabbitListenerContainerFactory(ConnectionFactory connections) {
		return factory(connections);
	}

	@Bean
	SimpleRabbitListenerContainerFactory rejecting(ConnectionFactory connections) {
		SimpleRabbitListenerContainerFactory factory = factory(connections);
		factory.setDefaultRequeueRejected(false);
		return factory;
	}

	@Bean
	SimpleRabbitListenerContainerFactory manually(ConnectionFactory connections) {
		SimpleRabbitListenerContainerFactory factory = factory(connections);
		factory.setAcknowledgeMode(AcknowledgeMode.MANUAL);
		return factory;
	}

	private static SimpleRabbitListenerContainerFactory factory(ConnectionFactory connections) {
		SimpleRabbitListenerContainerFactory factory = new SimpleRabbitListenerContainerFactory();
		factory.setConnectionFactory(connections);
		factory.setConcurrentConsumers(2);
		factory.setPrefetchCount(1);
		factory.setReceiveTimeout(200L);
		return factory;
	}

	/** What tests say about payloads. */
	static class Payloads {

		/** Work on these goes on until the test ends it. */
		final Map<String, CountDownLatch> running = new ConcurrentHashMap<>();

		/** These fail. */
		final Set<String> poison = ConcurrentHashMap.newKeySet();

	}

	static class Listeners {

		private final Deliveries deliveries;

		private final Payloads payloads;

		Listeners(Deliveries deliveries, Payloads payloads) {
			this.deliveries = deliveries;
			this.payloads = payloads;
		}

		@RabbitListener(queues = "keyless-redelivery")
		@Idempotent("messageId()")
		public void keyless(Message message) {
			this.deliveries.effect(new String(message.getBody(), StandardCharsets.UTF_8));
		}

		@RabbitListener(queues = "keyless-later")
		@Idempotent("messageId()")
		public CompletableFuture<Void> keylessLater(Message message) {
			keyless(message);
			return CompletableFuture.completedFuture(null);
		}

		@RabbitListener(queues = "poisoned")
		@Idempotent("#payload")
		public void poisoned(String payload) {
			this.deliveries.enter(payload);
			if (this.payloads.poison.contains(payload)) {
				throw new IllegalStateException("Always");
			}
			this.deliveries.effect(payload);
		}

		@RabbitListener(queues = "sent-back")
		@Idempotent(key = "#payload", operation = "sent-back")
		public void sentBack(String payload) throws InterruptedException {
			work(payload);
		}

		@RabbitListener(queues = "sent-back-manually", containerFactory = "manually")
		@Idempotent(key = "#payload", operation = "sent-back-manually", conflict = ConflictMode.REJECT, lease = "2s")
		public void manual(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag)
				throws InterruptedException, IOException {
			work(payload);
			channel.basicAck(tag, false);
		}

		/** The queue drops a message that is given back three times. */
		@RabbitListener(queues = "limited", containerFactory = "rejecting")
		@Idempotent(key = "#payload", operation = "limited")
		public void limited(String payload) throws InterruptedException {
			work(payload);
		}

		@RabbitListener(queues = "cut")
		@Idempotent(key = "#payload", operation = "cut")
		public void cut(String payload) throws InterruptedException {
			work(payload);
		}

		private void work(String payload) throws InterruptedException {
			this.deliveries.enter(payload);
			CountDownLatch end = this.payloads.running.get(payload);
			if (end != null) {
				end.await();
			}
			this.deliveries.effect(payload);
		}

	}

}
