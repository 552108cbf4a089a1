package io.idempotency.messaging;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.FixedBackOff;

import static org.assertj.core.api.Assertions.assertThat;

/** Containers are prepared for guarded calls before they start. No broker is there. */
class KafkaContainerChecksTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyMessagingAutoConfiguration.class))
		.withUserConfiguration(KafkaConfiguration.class)
		.withPropertyValues("idempotency.store=memory");

	@Test
	void addsBackOffToDefaultErrorHandler() {
		AtomicReference<CommonErrorHandler> used = new AtomicReference<>();
		with(Plain.class,
				(factory) -> factory
					.setContainerCustomizer((container) -> assertThat(container.getCommonErrorHandler()).isNull()))
			.run((context) -> {
				MessageListenerContainer container = context.getBean(KafkaListenerEndpointRegistry.class)
					.getListenerContainer("orders");
				used.set(((AbstractMessageListenerContainer<?, ?>) container).getCommonErrorHandler());
			});
		assertThat(used.get()).isInstanceOfSatisfying(DefaultErrorHandler.class,
				KafkaContainerChecksTests::assertRetriesRejections);
	}

	@Test
	void addsBackOffToHandlersThatClassifyExceptions() {
		DefaultErrorHandler byName = new DefaultErrorHandler();
		byName.addNotRetryableExceptions(RuntimeException.class);
		DefaultErrorHandler nothing = new DefaultErrorHandler();
		nothing.defaultFalse();
		start(Plain.class, byName);
		start(Plain.class, nothing);
		assertRetriesRejections(byName);
		assertRetriesRejections(nothing);
	}

	@Test
	void keepsBackOffFunctionOfApplication() {
		DefaultErrorHandler handler = new DefaultErrorHandler();
		BackOff chosen = new FixedBackOff(1, 1);
		handler.setBackOffFunction((record, failure) -> (failure instanceof IllegalStateException) ? chosen : null);
		start(Plain.class, handler);
		BiFunction<?, ?, ?> function = backOffFunctionOf(handler);
		assertThat(function).isInstanceOf(KafkaBackOff.class);
		ConsumerRecord<String, String> record = new ConsumerRecord<>("orders", 0, 0, "key", "value");
		assertThat(((KafkaBackOff) function).apply(record, new IllegalStateException())).isSameAs(chosen);
		assertThat(((KafkaBackOff) function).apply(record,
				IdempotencyStoreUnavailableException.overloaded("orders", Duration.ofSeconds(1))))
			.isNotNull();
	}

	private static void assertRetriesRejections(DefaultErrorHandler handler) {
		assertThat(backOffFunctionOf(handler)).isInstanceOf(KafkaBackOff.class);
		assertThat(handler.removeClassification(IdempotencyInProgressException.class)).isTrue();
		assertThat(handler.removeClassification(IdempotencyStoreUnavailableException.class)).isTrue();
	}

	private static BiFunction<?, ?, ?> backOffFunctionOf(DefaultErrorHandler handler) {
		return (BiFunction<?, ?, ?>) ReflectionTestUtils.getField(handler, FailedRecordProcessor.class,
				"userBackOffFunction");
	}

	/** The consumer group is part of a key, and the topic is not. */
	@ParameterizedTest
	@ValueSource(classes = { SeveralTopics.class, TopicPatterns.class, TwoListeners.class, PartitionsOfTopics.class,
			SeveralTopicsOfAClass.class, OtherTopic.class })
	void topicsThatShareAKey(Class<?> listener) {
		assertThat(failureOf(listener, (factory) -> {
		})).contains(listener.getSimpleName() + "#on(")
			.contains("it listens to several topics, and its key does not contain the topic")
			.contains("key = \"{#record.topic(), #record.key()}\"")
			.contains("scope = \"'orders'\"");
	}

	@Test
	void topicsThatShareNoKey() {
		with(TopicsApart.class, (factory) -> {
		}).withPropertyValues("orders.topic=orders").run((context) -> assertThat(context).hasNotFailed());
	}

	private void start(Class<?> listener, CommonErrorHandler handler) {
		with(listener, (factory) -> factory.setCommonErrorHandler(handler))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private ApplicationContextRunner with(Class<?> listener, Customizer customizer) {
		return this.runner.withUserConfiguration(listener).withBean(Customizer.class, () -> customizer);
	}

	private String failureOf(Class<?> listener, Customizer customizer) {
		return failureOf(with(listener, customizer));
	}

	private static String failureOf(ApplicationContextRunner application) {
		StringBuilder failure = new StringBuilder();
		application.run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).hasRootCauseInstanceOf(IdempotencyConfigurationException.class);
			IdempotencyConfigurationException problem = (IdempotencyConfigurationException) NestedExceptionUtils
				.getMostSpecificCause(context.getStartupFailure());
			failure.append(problem.getMessage()).append(' ').append(problem.action());
		});
		return failure.toString();
	}

	@FunctionalInterface
	interface Customizer extends Consumer<ConcurrentKafkaListenerContainerFactory<String, String>> {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableKafka
	static class KafkaConfiguration {

		@Bean
		ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(Customizer customizer) {
			ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
			factory.setConsumerFactory(
					new DefaultKafkaConsumerFactory<>(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1"),
							new StringDeserializer(), new StringDeserializer()));
			factory.setAutoStartup(false);
			customizer.accept(factory);
			return factory;
		}

	}

	static class SeveralTopics {

		@KafkaListener(topics = { "created", "cancelled" }, groupId = "orders")
		@Idempotent("#record.key()")
		public void on(ConsumerRecord<String, String> record) {
		}

	}

	record Order(String topicId) {
	}

	static class OtherTopic {

		@KafkaListener(topics = { "created", "cancelled" }, groupId = "orders")
		@Idempotent("#order.topicId")
		public void on(Order order) {
		}

	}

	static class TopicPatterns {

		@KafkaListener(topicPattern = "orders-.*", groupId = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class TwoListeners {

		@KafkaListener(topics = "created", groupId = "orders")
		@KafkaListener(topics = "cancelled", groupId = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class PartitionsOfTopics {

		@KafkaListener(topicPartitions = { @TopicPartition(topic = "created", partitions = "0"),
				@TopicPartition(topic = "cancelled", partitions = "0") }, groupId = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	@KafkaListener(topics = { "created", "cancelled" }, groupId = "orders")
	static class SeveralTopicsOfAClass {

		@KafkaHandler
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class TopicsApart {

		@KafkaListener(topics = "${orders.topic}", groupId = "placeholder")
		@Idempotent("#order")
		public void placeholder(String order) {
		}

		@KafkaListener(topics = "#{'orders'}", groupId = "expression")
		@Idempotent("#order")
		public void expression(String order) {
		}

		@KafkaListener(topics = { "created", "cancelled" }, groupId = "in-key")
		@Idempotent("{#record.topic(), #record.key()}")
		public void inKey(ConsumerRecord<String, String> record) {
		}

		@KafkaListener(topics = { "created", "cancelled" }, groupId = "other-code")
		@Idempotent("@keys.of(#record)")
		public void otherCode(ConsumerRecord<String, String> record) {
		}

		@KafkaListener(topics = { "created", "cancelled" }, groupId = "as-header")
		@Idempotent("{#from, #order}")
		public void asHeader(String order, @Header(KafkaHeaders.RECEIVED_TOPIC) String from) {
		}

		@KafkaListener(topics = { "created", "cancelled" }, groupId = "id")
		@Idempotent("messageId()")
		public void id(ConsumerRecord<String, String> record) {
		}

		@KafkaListener(topics = { "created", "cancelled" }, groupId = "scope")
		@Idempotent(key = "#order", scope = "'orders'")
		public void scope(String order) {
		}

		@KafkaListener(topics = { "created", "cancelled" }, groupId = "header")
		@Idempotent(header = "Idempotency-Key", fingerprint = "none")
		public void header(ConsumerRecord<String, String> record) {
		}

		@KafkaListener(topics = "created", groupId = "one")
		@KafkaListener(topics = "cancelled", groupId = "other")
		@Idempotent("#order")
		public void groups(String order) {
		}

		@KafkaListener(topics = "created", groupId = "two-nodes")
		@KafkaListener(topics = "created", groupId = "two-nodes")
		@Idempotent("#order")
		public void nodes(String order) {
		}

	}

	static class Plain {

		@KafkaListener(id = "orders", topics = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

}
