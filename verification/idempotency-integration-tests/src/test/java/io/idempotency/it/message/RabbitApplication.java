package io.idempotency.it.message;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import com.rabbitmq.client.Channel;
import io.idempotency.Idempotent;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.core.Declarables;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.ConditionalRejectingErrorHandler;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.SendTo;

/** Guarded listeners of RabbitMQ, each with a queue of its own. */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableRabbit
@Import({ Deliveries.class, RabbitApplication.Listeners.class })
class RabbitApplication {

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
		return new Declarables(Stream
			.of("by-header", "by-amqp-id", "failing-once", "two-a", "two-b", "manual", "channel", "asking", "answered",
					"keeping-nothing")
			.map((name) -> new Queue(name, false))
			.toList());
	}

	@Bean
	Failures failures() {
		return new Failures();
	}

	@Bean
	SimpleRabbitListenerContainerFactory rabbitListenerContainerFactory(ConnectionFactory connections,
			Failures failures) {
		return factory(connections, failures);
	}

	@Bean
	SimpleRabbitListenerContainerFactory manually(ConnectionFactory connections, Failures failures) {
		SimpleRabbitListenerContainerFactory factory = factory(connections, failures);
		factory.setAcknowledgeMode(AcknowledgeMode.MANUAL);
		return factory;
	}

	/** A new one: a bean method that calls another one gets its bean. */
	private static SimpleRabbitListenerContainerFactory factory(ConnectionFactory connections, Failures failures) {
		SimpleRabbitListenerContainerFactory factory = new SimpleRabbitListenerContainerFactory();
		factory.setConnectionFactory(connections);
		factory.setErrorHandler(failures);
		factory.setReceiveTimeout(200L);
		return factory;
	}

	/** Spring's default, which tells what it was asked. */
	static class Failures extends ConditionalRejectingErrorHandler {

		final List<Throwable> seen = new CopyOnWriteArrayList<>();

		final List<RuntimeException> rejected = new CopyOnWriteArrayList<>();

		@Override
		public void handleError(Throwable failure) {
			this.seen.add(failure);
			try {
				super.handleError(failure);
			}
			catch (RuntimeException ex) {
				this.rejected.add(ex);
				throw ex;
			}
		}

	}

	static class Listeners {

		private final Deliveries deliveries;

		Listeners(Deliveries deliveries) {
			this.deliveries = deliveries;
		}

		@RabbitListener(queues = "by-header")
		@Idempotent(header = "Idempotency-Key")
		public void byHeader(String payload, Message message) {
			this.deliveries.effect(payload);
		}

		@RabbitListener(queues = "by-amqp-id")
		@Idempotent("messageId()")
		public void byMessageId(org.springframework.messaging.Message<String> message) {
			this.deliveries.effect(message.getPayload());
		}

		@RabbitListener(queues = "failing-once")
		@Idempotent("#payload")
		public void failingOnce(String payload) {
			if (this.deliveries.enter(payload) == 1) {
				throw new IllegalStateException("The first try of " + payload + " fails");
			}
			this.deliveries.effect(payload);
		}

		@RabbitListener(queues = { "two-a", "two-b" })
		@Idempotent("#payload")
		public void twoQueues(String payload, Message message) {
			this.deliveries.effect(payload);
		}

		@RabbitListener(queues = "manual", containerFactory = "manually")
		@Idempotent("#payload")
		public void manual(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag)
				throws IOException {
			this.deliveries.effect(payload);
			channel.basicAck(tag, false);
		}

		/** The container acknowledges, though the listener could. */
		@RabbitListener(queues = "channel")
		@Idempotent("#payload")
		public void channel(String payload, Channel channel, Message message) {
			this.deliveries.effect(payload);
		}

		@RabbitListener(queues = "asking")
		@SendTo("answered")
		@Idempotent("#payload")
		public String asking(String payload) {
			this.deliveries.effect(payload);
			return payload + " " + this.deliveries.enter(payload);
		}

		@RabbitListener(queues = "keeping-nothing")
		@Idempotent(key = "#payload", keepResult = false)
		public void keepingNothing(String payload) {
			this.deliveries.effect(payload);
		}

	}

}
