package io.idempotency.it.message;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import io.idempotency.AbandonedMode;
import io.idempotency.Idempotent;
import io.idempotency.messaging.KafkaBackOff;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.util.backoff.FixedBackOff;

/** Guarded listeners of Kafka, each with a topic of its own. */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableKafka
@Import({ Deliveries.class, KafkaApplication.Listeners.class, KafkaApplication.Handlers.class })
class KafkaApplication {

	private static final List<String> TOPICS = List.of("by-header", "by-record-key", "by-message-id", "by-payload",
			"groups", "failing-once", "in-progress", "keyless", "manual", "answering", "answers", "keeping-nothing",
			"handlers", "store-down", "abandoned", "moving");

	private static Map<String, Object> properties(EmbeddedKafkaBroker broker) {
		TOPICS.stream().filter((topic) -> !broker.getTopics().contains(topic)).forEach(broker::addTopics);
		return Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, broker.getBrokersAsString(),
				ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
	}

	@Bean
	ConsumerFactory<String, String> consumerFactory(EmbeddedKafkaBroker broker) {
		return new DefaultKafkaConsumerFactory<>(properties(broker), new StringDeserializer(),
				new StringDeserializer());
	}

	@Bean
	KafkaTemplate<String, String> kafkaTemplate(EmbeddedKafkaBroker broker) {
		return new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(
				Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, broker.getBrokersAsString()),
				new StringSerializer(), new StringSerializer()));
	}

	/** Its error handling is Spring's default. */
	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(
			ConsumerFactory<String, String> consumers, KafkaTemplate<String, String> template) {
		return factory(consumers, template);
	}

	/** What cannot be processed is put into a list. */
	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> withDeadLetters(ConsumerFactory<String, String> consumers,
			KafkaTemplate<String, String> template, DeadLetters deadLetters) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = factory(consumers, template);
		DefaultErrorHandler handler = new DefaultErrorHandler(
				(record, failure) -> deadLetters.add(String.valueOf(record.value()), failure), new FixedBackOff(0, 3));
		handler.setBackOffFunction(new KafkaBackOff());
		factory.setCommonErrorHandler(handler);
		return factory;
	}

	@Bean
	ConcurrentKafkaListenerContainerFactory<String, String> manually(ConsumerFactory<String, String> consumers,
			KafkaTemplate<String, String> template) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = factory(consumers, template);
		factory.getContainerProperties().setAckMode(AckMode.MANUAL_IMMEDIATE);
		return factory;
	}

	private static ConcurrentKafkaListenerContainerFactory<String, String> factory(
			ConsumerFactory<String, String> consumers, KafkaTemplate<String, String> template) {
		ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
		factory.setConsumerFactory(consumers);
		factory.setReplyTemplate(template);
		factory.getContainerProperties().setPollTimeout(100);
		return factory;
	}

	@Bean
	DeadLetters deadLetters() {
		return new DeadLetters();
	}

	@Bean
	@Primary
	FailingStore failingStore() {
		return new FailingStore("store-down");
	}

	/** What the error handler gave up. */
	static class DeadLetters {

		final List<String> values = new CopyOnWriteArrayList<>();

		final Map<String, String> reasons = new ConcurrentHashMap<>();

		/** Notes the reason that a recoverer writes into a header of the dead letter. */
		void add(String value, Exception failure) {
			this.reasons.put(value, String.valueOf(failure.getCause().getMessage()));
			this.values.add(value);
		}

	}

	static class Listeners {

		private final Deliveries deliveries;

		Listeners(Deliveries deliveries) {
			this.deliveries = deliveries;
		}

		@KafkaListener(topics = "by-header", groupId = "by-header")
		@Idempotent(header = "Idempotency-Key")
		public void byHeader(ConsumerRecord<String, String> record) {
			this.deliveries.effect(record.value());
		}

		@KafkaListener(topics = "by-record-key", groupId = "by-record-key")
		@Idempotent("#record.key()")
		public void byRecordKey(ConsumerRecord<String, String> record) {
			this.deliveries.effect(record.value());
		}

		@KafkaListener(id = "by-message-id", topics = "by-message-id")
		@Idempotent("messageId()")
		public void byMessageId(Message<String> message) {
			this.deliveries.effect(message.getPayload());
		}

		@KafkaListener(topics = "by-payload", groupId = "by-payload")
		@Idempotent("#payload")
		public void byPayload(String payload) {
			this.deliveries.effect(payload);
		}

		@KafkaListener(topics = "groups", groupId = "one")
		@KafkaListener(topics = "groups", groupId = "other")
		@Idempotent("#payload")
		public void groups(String payload) {
			this.deliveries.effect(payload);
		}

		@KafkaListener(topics = "failing-once", groupId = "failing-once")
		@Idempotent("#payload")
		public void failingOnce(String payload) {
			if (this.deliveries.enter(payload) == 1) {
				throw new IllegalStateException("The first try fails");
			}
			this.deliveries.effect(payload);
		}

		@KafkaListener(topics = "in-progress", groupId = "in-progress")
		@Idempotent(key = "#payload", operation = "in-progress")
		public void inProgress(String payload) {
			this.deliveries.effect(payload);
		}

		@KafkaListener(topics = "keyless", groupId = "keyless", containerFactory = "withDeadLetters")
		@Idempotent(header = "Idempotency-Key")
		public void keyless(ConsumerRecord<String, String> record) {
			this.deliveries.effect(record.value());
		}

		@KafkaListener(topics = "manual", groupId = "manual", containerFactory = "manually")
		@Idempotent("#payload")
		public void manual(String payload, Acknowledgment acknowledgment) {
			this.deliveries.effect(payload);
			acknowledgment.acknowledge();
		}

		@KafkaListener(topics = "answering", groupId = "answering")
		@SendTo("answers")
		@Idempotent("#payload")
		public String answering(String payload) {
			this.deliveries.effect(payload);
			return payload + " " + this.deliveries.enter(payload);
		}

		@KafkaListener(topics = "keeping-nothing", groupId = "keeping-nothing", containerFactory = "withDeadLetters")
		@Idempotent(key = "#payload", keepResult = false)
		public void keepingNothing(String payload) {
			this.deliveries.effect(payload);
		}

		/**
		 * Two consumers of one group, as of two nodes; the lease is shorter than the
		 * work.
		 */
		@KafkaListener(id = "moving-one", topics = "moving", groupId = "moving",
				properties = { "max.poll.interval.ms=11000", "session.timeout.ms=10000", "heartbeat.interval.ms=500" })
		@KafkaListener(id = "moving-other", topics = "moving", groupId = "moving",
				properties = { "max.poll.interval.ms=11000", "session.timeout.ms=10000", "heartbeat.interval.ms=500" })
		@Idempotent(key = "#payload", operation = "moving", lease = "9s")
		public void moving(String payload) throws InterruptedException {
			if (this.deliveries.enter(payload) == 1) {
				this.deliveries.awaitEnd();
			}
			this.deliveries.effect(payload);
		}

		@KafkaListener(topics = "abandoned", groupId = "abandoned", containerFactory = "withDeadLetters")
		@Idempotent(key = "#payload", operation = FailingStore.ABANDONED, onAbandoned = AbandonedMode.REJECT)
		public void abandoned(String payload) {
			this.deliveries.effect(payload);
		}

		@KafkaListener(topics = "store-down", groupId = "store-down", containerFactory = "withDeadLetters")
		@Idempotent(key = "#payload", operation = "store-down")
		public void storeDown(String payload) {
			this.deliveries.effect(payload);
		}

	}

	@KafkaListener(topics = "handlers", groupId = "handlers")
	static class Handlers {

		private final Deliveries deliveries;

		Handlers(Deliveries deliveries) {
			this.deliveries = deliveries;
		}

		@KafkaHandler
		@Idempotent("#payload")
		public void text(String payload) {
			this.deliveries.effect(payload);
		}

	}

}
