package io.idempotency.it.message;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.Idempotent;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.util.backoff.FixedBackOff;

/**
 * Guarded listeners of Kafka in containers that nobody has prepared for the guard, each
 * with a topic of its own.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableKafka
@Import({ Deliveries.class, KafkaContainersApplication.Listeners.class,
		KafkaContainersApplication.Acknowledging.class })
class KafkaContainersApplication {

	private static final List<String> TOPICS = List.of("future", "async-acks", "held", "own-handler", "choosy",
			"in-transaction-by-default", "in-message", "in-headers", "in-map", "in-header", "client", "nacked",
			"sought", "handed-over", "acknowledged-late");

	@Bean
	KafkaTemplate<String, String> kafkaTemplate(EmbeddedKafkaBroker broker) {
		return new KafkaTemplate<>(producers(broker));
	}

	private static DefaultKafkaProducerFactory<String, String> producers(EmbeddedKafkaBroker broker) {
		return new DefaultKafkaProducerFactory<>(
				Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.getBrokersAsString()), new StringSerializer(),
				new StringSerializer());
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(EmbeddedKafkaBroker broker) {
		return factory(broker);
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> asyncAcks(EmbeddedKafkaBroker broker) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = factory(broker);
		factory.getContainerProperties().setAckMode(AckMode.MANUAL);
		factory.getContainerProperties().setAsyncAcks(true);
		return factory;
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> manual(EmbeddedKafkaBroker broker) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = factory(broker);
		factory.getContainerProperties().setAckMode(AckMode.MANUAL);
		return factory;
	}

	/** Gives a record up after three tries. */
	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> ownHandler(EmbeddedKafkaBroker broker) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = factory(broker);
		factory.setCommonErrorHandler(new DefaultErrorHandler(new FixedBackOff(0, 2)));
		return factory;
	}

	/** Tries nothing again but what its owner has named. */
	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> choosy(EmbeddedKafkaBroker broker) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = factory(broker);
		DefaultErrorHandler handler = new DefaultErrorHandler(new FixedBackOff(0, 2));
		handler.defaultFalse();
		handler.addRetryableExceptions(SocketTimeoutException.class);
		factory.setCommonErrorHandler(handler);
		return factory;
	}

	/** Gives a record up after ten tries. */
	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> inTransactions(EmbeddedKafkaBroker broker) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = factory(broker);
		DefaultKafkaProducerFactory<String, String> producers = producers(broker);
		producers.setTransactionIdPrefix("containers-");
		factory.getContainerProperties().setKafkaAwareTransactionManager(new KafkaTransactionManager<>(producers));
		return factory;
	}

	private static ConcurrentKafkaListenerContainerFactory<String, String> factory(EmbeddedKafkaBroker broker) {
		TOPICS.stream().filter((topic) -> !broker.getTopics().contains(topic)).forEach(broker::addTopics);
		ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
		factory.setConsumerFactory(new DefaultKafkaConsumerFactory<>(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
				broker.getBrokersAsString(), ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
				ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 50), new StringDeserializer(), new StringDeserializer()));
		factory.getContainerProperties().setPollTimeout(100);
		return factory;
	}

	static class Listeners {

		private final Deliveries deliveries;

		private final CompletableFuture<Void> held = new CompletableFuture<>();

		Listeners(Deliveries deliveries) {
			this.deliveries = deliveries;
		}

		@KafkaListener(topics = "future", groupId = "future")
		@Idempotent(key = "#payload", operation = "future")
		public CompletableFuture<Void> future(String payload) {
			return CompletableFuture.runAsync(() -> this.deliveries.effect(payload));
		}

		@KafkaListener(topics = "async-acks", groupId = "async-acks", containerFactory = "asyncAcks")
		@Idempotent(key = "#payload", operation = "async-acks")
		public CompletableFuture<Void> asyncAcks(String payload) {
			return CompletableFuture.runAsync(() -> this.deliveries.effect(payload));
		}

		@KafkaListener(id = "held", topics = "held", autoStartup = "false")
		@Idempotent(key = "#payload", operation = "held")
		public CompletableFuture<Void> held(String payload) {
			this.deliveries.effect(payload);
			return payload.startsWith("held") ? this.held : CompletableFuture.completedFuture(null);
		}

		public void endHeld() {
			this.held.complete(null);
		}

		@KafkaListener(topics = "own-handler", groupId = "own-handler", containerFactory = "ownHandler")
		@Idempotent(key = "#payload", operation = "own-handler")
		public void ownHandler(String payload) {
			this.deliveries.effect(payload);
		}

		@KafkaListener(topics = "choosy", groupId = "choosy", containerFactory = "choosy")
		@Idempotent(key = "#payload", operation = "choosy")
		public void choosy(String payload) {
			this.deliveries.effect(payload);
		}

		@KafkaListener(topics = "in-transaction-by-default", groupId = "in-transaction-by-default",
				containerFactory = "inTransactions")
		@Idempotent(key = "#payload", operation = "in-transaction-by-default")
		public void inTransaction(String payload) {
			this.deliveries.effect(payload);
		}

	}

	/** Listeners that speak to the broker themselves. */
	static class Acknowledging {

		private final Deliveries deliveries;

		private final Map<String, Acknowledgment> handedOver = new ConcurrentHashMap<>();

		Acknowledging(Deliveries deliveries) {
			this.deliveries = deliveries;
		}

		@KafkaListener(topics = "in-message", groupId = "in-message", containerFactory = "manual")
		@Idempotent("#message.payload")
		public void inMessage(Message<String> message) {
			this.deliveries.effect(message.getPayload());
			acknowledge(message.getHeaders());
		}

		@KafkaListener(topics = "in-headers", groupId = "in-headers", containerFactory = "manual")
		@Idempotent("#payload")
		public void inHeaders(@Payload String payload, MessageHeaders headers) {
			this.deliveries.effect(payload);
			acknowledge(headers);
		}

		@KafkaListener(topics = "in-map", groupId = "in-map", containerFactory = "manual")
		@Idempotent("#payload")
		public void inMap(@Payload String payload, @Headers Map<String, Object> headers) {
			this.deliveries.effect(payload);
			acknowledge(headers);
		}

		private static void acknowledge(Map<String, Object> headers) {
			((Acknowledgment) headers.get(KafkaHeaders.ACKNOWLEDGMENT)).acknowledge();
		}

		@KafkaListener(topics = "in-header", groupId = "in-header", containerFactory = "manual")
		@Idempotent("#payload")
		public void inHeader(@Payload String payload,
				@Header(KafkaHeaders.ACKNOWLEDGMENT) Acknowledgment acknowledgment) {
			this.deliveries.effect(payload);
			acknowledgment.acknowledge();
		}

		@KafkaListener(topics = "client", groupId = "client", containerFactory = "manual")
		@Idempotent("#record.value()")
		public void client(ConsumerRecord<String, String> record, Acknowledgment acknowledgment,
				KafkaConsumer<String, String> client) {
			this.deliveries.effect(record.value());
			acknowledgment.acknowledge();
		}

		@KafkaListener(topics = "nacked", groupId = "nacked", containerFactory = "manual")
		@Idempotent("#payload")
		public void nacked(String payload, Acknowledgment acknowledgment) {
			if (this.deliveries.enter(payload) == 1) {
				acknowledgment.nack(Duration.ofMillis(10));
				return;
			}
			this.deliveries.effect(payload);
			acknowledgment.acknowledge();
		}

		@KafkaListener(topics = "sought", groupId = "sought")
		@Idempotent("#record.value()")
		public void sought(ConsumerRecord<String, String> record, Consumer<String, String> consumer) {
			if (this.deliveries.enter(record.value()) == 1) {
				consumer.seek(new TopicPartition(record.topic(), record.partition()), record.offset());
				return;
			}
			this.deliveries.effect(record.value());
		}

		@KafkaListener(topics = "handed-over", groupId = "handed-over", containerFactory = "asyncAcks")
		@Idempotent(key = "#payload", operation = "handed-over")
		public void handedOver(String payload, Acknowledgment acknowledgment) {
			this.deliveries.enter(payload);
			this.handedOver.put(payload, acknowledgment);
		}

		@KafkaListener(topics = "acknowledged-late", groupId = "acknowledged-late", containerFactory = "manual")
		@Idempotent(key = "#payload", operation = "acknowledged-late")
		public void acknowledgedLate(String payload, Acknowledgment acknowledgment) {
			this.deliveries.enter(payload);
			this.handedOver.put(payload, acknowledgment);
		}

		public void end(String payload) {
			this.handedOver.remove(payload).acknowledge();
		}

	}

}
