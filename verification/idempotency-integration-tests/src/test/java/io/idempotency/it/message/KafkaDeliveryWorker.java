package io.idempotency.it.message;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.idempotency.Idempotent;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.support.Acknowledgment;

/**
 * A consumer of Kafka that has a guarded listener, and one without a guard beside it, for
 * each way to acknowledge.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableKafka
@Import({ DeliveryTask.class, KafkaDeliveryWorker.OnReturn.class, KafkaDeliveryWorker.Manual.class,
		KafkaDeliveryWorker.Futures.class, KafkaDeliveryWorker.AsyncAcks.class })
class KafkaDeliveryWorker {

	public static void main(String[] args) {
		new SpringApplicationBuilder(KafkaDeliveryWorker.class).web(WebApplicationType.NONE).run(args);
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(
			@Value("${test.broker}") String brokers, @Value("${test.kind}") DeliveryKind kind) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
		Map<String, Object> consumer = new HashMap<>();
		consumer.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers);
		consumer.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
		consumer.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 3_000);
		consumer.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 500);
		consumer.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 50);
		factory.setConsumerFactory(
				new DefaultKafkaConsumerFactory<>(consumer, new StringDeserializer(), new StringDeserializer()));
		ContainerProperties container = factory.getContainerProperties();
		container.setAckMode((kind == DeliveryKind.KAFKA_RECORD) ? AckMode.RECORD : AckMode.MANUAL);
		container.setAsyncAcks(kind == DeliveryKind.KAFKA_ASYNC_ACKS);
		return factory;
	}

	@ConditionalOnProperty(name = "test.kind", havingValue = "KAFKA_RECORD")
	static class OnReturn {

		private final DeliveryTask task;

		OnReturn(DeliveryTask task) {
			this.task = task;
		}

		@KafkaListener(topics = "${test.queue}", groupId = "${test.queue}")
		@Idempotent(key = "#payload", lease = DeliveryTask.LEASE, recover = "find")
		public void on(String payload) {
			this.task.work(payload);
		}

		@KafkaListener(topics = DeliveryTask.CONTROL, groupId = DeliveryTask.CONTROL)
		public void control(String payload) {
			this.task.control(payload);
		}

		public @Nullable String find(String payload) {
			return this.task.find(payload);
		}

	}

	@ConditionalOnProperty(name = "test.kind", havingValue = "KAFKA_MANUAL")
	static class Manual {

		private final DeliveryTask task;

		Manual(DeliveryTask task) {
			this.task = task;
		}

		@KafkaListener(topics = "${test.queue}", groupId = "${test.queue}")
		@Idempotent(key = "#payload", lease = DeliveryTask.LEASE, recover = "find")
		public void on(String payload, Acknowledgment acknowledgment) {
			this.task.work(payload);
			acknowledgment.acknowledge();
		}

		@KafkaListener(topics = DeliveryTask.CONTROL, groupId = DeliveryTask.CONTROL)
		public void control(String payload, Acknowledgment acknowledgment) {
			this.task.control(payload);
			acknowledgment.acknowledge();
		}

		public @Nullable String find(String payload, Acknowledgment acknowledgment) {
			return this.task.find(payload);
		}

	}

	@ConditionalOnProperty(name = "test.kind", havingValue = "KAFKA_FUTURE")
	static class Futures {

		private final DeliveryTask task;

		Futures(DeliveryTask task) {
			this.task = task;
		}

		@KafkaListener(topics = "${test.queue}", groupId = "${test.queue}")
		@Idempotent(key = "#payload", lease = DeliveryTask.LEASE, recover = "find")
		public CompletableFuture<Void> on(String payload) {
			return run(() -> this.task.work(payload));
		}

		@KafkaListener(topics = DeliveryTask.CONTROL, groupId = DeliveryTask.CONTROL)
		public CompletableFuture<Void> control(String payload) {
			return run(() -> this.task.control(payload));
		}

		/**
		 * A future that fails would be acknowledged. One whose worker is told to end
		 * stays open.
		 */
		private CompletableFuture<Void> run(Runnable work) {
			CompletableFuture<Void> future = new CompletableFuture<>();
			this.task.workers().execute(() -> {
				work.run();
				future.complete(null);
			});
			return future;
		}

		public @Nullable String find(String payload) {
			return this.task.find(payload);
		}

	}

	@ConditionalOnProperty(name = "test.kind", havingValue = "KAFKA_ASYNC_ACKS")
	static class AsyncAcks {

		private final DeliveryTask task;

		AsyncAcks(DeliveryTask task) {
			this.task = task;
		}

		@KafkaListener(topics = "${test.queue}", groupId = "${test.queue}")
		@Idempotent(key = "#payload", lease = DeliveryTask.LEASE, recover = "find")
		public void on(String payload, Acknowledgment acknowledgment) {
			this.task.workers().execute(() -> {
				this.task.work(payload);
				acknowledgment.acknowledge();
			});
		}

		@KafkaListener(topics = DeliveryTask.CONTROL, groupId = DeliveryTask.CONTROL)
		public void control(String payload, Acknowledgment acknowledgment) {
			this.task.workers().execute(() -> {
				this.task.control(payload);
				acknowledgment.acknowledge();
			});
		}

		public @Nullable String find(String payload, Acknowledgment acknowledgment) {
			return this.task.find(payload);
		}

	}

}
