package io.idempotency.it.message;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;

import com.rabbitmq.client.Channel;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.handler.annotation.Header;

/**
 * A consumer of RabbitMQ that has a guarded listener, and one without a guard beside it,
 * for each way to acknowledge. Its containers drop what fails.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableRabbit
@Import({ DeliveryTask.class, RabbitDeliveryWorker.OnReturn.class, RabbitDeliveryWorker.Manual.class,
		RabbitDeliveryWorker.Futures.class, RabbitDeliveryWorker.HandedOn.class })
class RabbitDeliveryWorker {

	private static final int PREFETCH = 50;

	public static void main(String[] args) {
		new SpringApplicationBuilder(RabbitDeliveryWorker.class).web(WebApplicationType.NONE).run(args);
	}

	@Bean
	CachingConnectionFactory rabbitConnectionFactory(@Value("${test.broker}") String address) {
		CachingConnectionFactory connections = RabbitServer.connections(address);
		// A consumer that stands still is to lose its connection.
		connections.setRequestedHeartBeat(2);
		return connections;
	}

	@Bean
	SimpleRabbitListenerContainerFactory rabbitListenerContainerFactory(ConnectionFactory connections,
			@Value("${test.kind}") DeliveryKind kind) {
		SimpleRabbitListenerContainerFactory factory = new SimpleRabbitListenerContainerFactory();
		factory.setConnectionFactory(connections);
		factory.setReceiveTimeout(200L);
		factory.setRecoveryInterval(500L);
		factory.setPrefetchCount(PREFETCH);
		factory.setDefaultRequeueRejected(false);
		boolean manual = kind == DeliveryKind.RABBIT_MANUAL || kind == DeliveryKind.RABBIT_HANDED_ON;
		factory.setAcknowledgeMode(manual ? AcknowledgeMode.MANUAL : AcknowledgeMode.AUTO);
		return factory;
	}

	@ConditionalOnProperty(name = "test.kind", havingValue = "RABBIT_AUTO")
	static class OnReturn {

		private final DeliveryTask task;

		OnReturn(DeliveryTask task) {
			this.task = task;
		}

		@RabbitListener(queues = "${test.queue}")
		@Idempotent(key = "#payload", lease = DeliveryTask.LEASE, recover = "find")
		public void on(String payload) {
			this.task.work(payload);
		}

		@RabbitListener(queues = DeliveryTask.CONTROL)
		public void control(String payload) {
			this.task.control(payload);
		}

		public @Nullable String find(String payload) {
			return this.task.find(payload);
		}

	}

	@ConditionalOnProperty(name = "test.kind", havingValue = "RABBIT_MANUAL")
	static class Manual {

		private final DeliveryTask task;

		Manual(DeliveryTask task) {
			this.task = task;
		}

		@RabbitListener(queues = "${test.queue}")
		@Idempotent(key = "#payload", lease = DeliveryTask.LEASE, recover = "find")
		public void on(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag) throws IOException {
			this.task.work(payload);
			channel.basicAck(tag, false);
		}

		@RabbitListener(queues = DeliveryTask.CONTROL)
		public void control(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag)
				throws IOException {
			this.task.control(payload);
			channel.basicAck(tag, false);
		}

		public @Nullable String find(String payload, Channel channel, long tag) {
			return this.task.find(payload);
		}

	}

	@ConditionalOnProperty(name = "test.kind", havingValue = "RABBIT_FUTURE")
	static class Futures {

		private final DeliveryTask task;

		Futures(DeliveryTask task) {
			this.task = task;
		}

		@RabbitListener(queues = "${test.queue}")
		@Idempotent(key = "#payload", lease = DeliveryTask.LEASE, recover = "find")
		public CompletableFuture<Void> on(String payload) {
			return CompletableFuture.runAsync(() -> this.task.work(payload), this.task.workers());
		}

		@RabbitListener(queues = DeliveryTask.CONTROL)
		public CompletableFuture<Void> control(String payload) {
			return CompletableFuture.runAsync(() -> this.task.control(payload), this.task.workers());
		}

		public @Nullable String find(String payload) {
			return this.task.find(payload);
		}

	}

	@ConditionalOnProperty(name = "test.kind", havingValue = "RABBIT_HANDED_ON")
	static class HandedOn {

		private final DeliveryTask task;

		HandedOn(DeliveryTask task) {
			this.task = task;
		}

		@RabbitListener(queues = "${test.queue}")
		@Idempotent(key = "#payload", lease = DeliveryTask.LEASE, recover = "find")
		public void on(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag) {
			run(() -> this.task.work(payload), channel, tag);
		}

		@RabbitListener(queues = DeliveryTask.CONTROL)
		public void control(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag) {
			run(() -> this.task.control(payload), channel, tag);
		}

		private void run(Runnable work, Channel channel, long tag) {
			this.task.workers().execute(() -> {
				work.run();
				try {
					channel.basicAck(tag, false);
				}
				catch (IOException ex) {
					throw new UncheckedIOException(ex);
				}
			});
		}

		public @Nullable String find(String payload, Channel channel, long tag) {
			return this.task.find(payload);
		}

	}

}
