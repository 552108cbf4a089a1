package io.idempotency.it.message;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.engine.IdempotencyAutoConfiguration;
import io.idempotency.message.kafka.KafkaBackOff;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.CommonDelegatingErrorHandler;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.CommonLoggingErrorHandler;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.retrytopic.DltStrategy;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.util.backoff.FixedBackOff;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A container that would lose the records of a guarded listener is refused, or told. No
 * broker is there, and no container starts.
 */
@ExtendWith(OutputCaptureExtension.class)
class KafkaContainerChecksTests {

	private static final String CANNOT_WAIT = "error handling that cannot wait";

	private final ApplicationContextRunner withoutKafka = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	private final ApplicationContextRunner runner = this.withoutKafka.withUserConfiguration(KafkaConfiguration.class);

	@Test
	void nobodyCouldAcknowledgeADuplicate() {
		for (AckMode mode : new AckMode[] { AckMode.MANUAL, AckMode.MANUAL_IMMEDIATE }) {
			assertThat(failureOf(Plain.class, (factory) -> factory.getContainerProperties().setAckMode(mode)))
				.contains("Plain#on(String)")
				.contains("none of its parameters holds one")
				.contains("Acknowledgment acknowledgment");
		}
		assertThat(failureOf(Plain.class, (factory) -> factory.getContainerProperties().setAsyncAcks(true)))
			.contains("none of its parameters holds one");
	}

	@Test
	void listenersThatCanAcknowledge() {
		with(Acknowledging.class, (factory) -> factory.getContainerProperties().setAckMode(AckMode.MANUAL))
			.run((context) -> assertThat(context).hasNotFailed());
		with(Acknowledging.class, (factory) -> factory.getContainerProperties().setAsyncAcks(true))
			.run((context) -> assertThat(context).hasNotFailed());
		with(Future.class, (factory) -> factory.getContainerProperties().setAckMode(AckMode.MANUAL))
			.run((context) -> assertThat(context).hasNotFailed());
		with(Unguarded.class, (factory) -> factory.getContainerProperties().setAckMode(AckMode.MANUAL))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void handlerThatNeverTriesAgain(CapturedOutput output) {
		start(Plain.class, new DefaultErrorHandler(new FixedBackOff(0, 0)));
		assertThat(output).contains("'orders' has an " + CANNOT_WAIT + " (DefaultErrorHandler)")
			.contains("new FixedBackOff(1000, 9)");
	}

	@Test
	void handlerThatTakesNoBackOff(CapturedOutput output) {
		start(Plain.class, new CommonLoggingErrorHandler());
		assertThat(output).contains(CANNOT_WAIT + " (CommonLoggingErrorHandler)");
	}

	@Test
	void handlersThatTakeTheBackOff(CapturedOutput output) {
		DefaultErrorHandler prepared = new DefaultErrorHandler();
		prepared.setBackOffFunction(new KafkaBackOff());
		start(Plain.class, prepared);
		start(Plain.class, new CommonDelegatingErrorHandler(new DefaultErrorHandler()));
		start(Unguarded.class, new CommonLoggingErrorHandler());
		assertThat(output).doesNotContain(CANNOT_WAIT);
	}

	/** A handler asks no back-off function for an exception that it never tries again. */
	@Test
	void handlersThatClassifyExceptions() {
		DefaultErrorHandler byName = new DefaultErrorHandler();
		byName.addNotRetryableExceptions(RuntimeException.class);
		DefaultErrorHandler delegate = new DefaultErrorHandler();
		delegate.defaultFalse();
		CommonDelegatingErrorHandler delegating = new CommonDelegatingErrorHandler(new DefaultErrorHandler());
		delegating.addDelegate(RuntimeException.class, delegate);
		start(Plain.class, byName);
		start(Plain.class, delegating);
		assertThat(List.of(byName, delegate)).allSatisfy((handler) -> {
			assertThat(handler.removeClassification(IdempotencyInProgressException.class)).isTrue();
			assertThat(handler.removeClassification(IdempotencyStoreUnavailableException.class)).isTrue();
		});
	}

	@Test
	void delegateThatCannotWait(CapturedOutput output) {
		CommonDelegatingErrorHandler harmless = new CommonDelegatingErrorHandler(new DefaultErrorHandler());
		harmless.addDelegate(IllegalStateException.class, new DefaultErrorHandler(new FixedBackOff(0, 0)));
		start(Plain.class, harmless);
		assertThat(output).doesNotContain(CANNOT_WAIT);
		CommonDelegatingErrorHandler delegating = new CommonDelegatingErrorHandler(new DefaultErrorHandler());
		delegating.addDelegate(RuntimeException.class, new DefaultErrorHandler(new FixedBackOff(0, 0)));
		start(Plain.class, delegating);
		assertThat(output).contains(CANNOT_WAIT + " (CommonDelegatingErrorHandler)");
	}

	@Test
	void retryTopicsThatLeaveOutWhatStillRuns(CapturedOutput output) {
		startWithRetries(Retrying.class);
		startWithRetries(RetryingAll.class);
		assertThat(output).doesNotContain("The retry topics of");
		startWithRetries(RetryingSome.class);
		assertThat(output).containsOnlyOnce("The retry topics of").contains("RetryingSome.on(");
		startWithRetries(RetryingOthers.class);
		assertThat(output).containsPattern("The retry topics of '.+RetryingOthers.on\\(");
	}

	private void startWithRetries(Class<?> listener) {
		this.runner.withUserConfiguration(RetryConfiguration.class, listener)
			.withBean(Customizer.class, () -> (factory) -> {
			})
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void seekOfAHandlerWhereAcknowledgementsAreOutOfOrder(CapturedOutput output) {
		start(Future.class, new DefaultErrorHandler());
		assertThat(output).contains("Call setSeekAfterError(false)");
	}

	@Test
	void handlerOfDeadLettersThatWouldMakeThemWithoutAnEnd() {
		Customizer none = (factory) -> {
		};
		assertThat(failureOf(this.runner.withUserConfiguration(RetryConfiguration.class, EndlessDeadLetters.class)
			.withBean(Customizer.class, () -> none))).contains("EndlessDeadLetters#dead(ConsumerRecord)")
			.contains("dltStrategy = DltStrategy.FAIL_ON_ERROR");
		this.runner.withUserConfiguration(RetryConfiguration.class, DeadLettersOnce.class)
			.withBean(Customizer.class, () -> none)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** The consumer group is part of a key, and the topic is not. */
	@ParameterizedTest
	@ValueSource(classes = { SeveralTopics.class, TopicPatterns.class, TopicsOfAnExpression.class, TwoListeners.class,
			PartitionsOfTopics.class, SeveralTopicsOfAClass.class, OtherTopic.class })
	void topicsThatShareAKey(Class<?> listener) {
		assertThat(failureOf(listener, (factory) -> {
		})).contains(listener.getSimpleName() + "#on(")
			.contains("it listens to several topics, and its key does not say which")
			.contains("key = \"{#record.topic(), #record.key()}\"")
			.contains("scope = \"'orders'\"");
	}

	@Test
	void topicsThatShareNoKey() {
		with(TopicsApart.class, (factory) -> {
		}).withPropertyValues("orders.topic=orders").run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void registryOfTheApplication(CapturedOutput output) {
		this.withoutKafka.withUserConfiguration(OwnRegistry.class, KafkaConfiguration.class, Plain.class)
			.withBean(Customizer.class, () -> (factory) -> {
			})
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("is not the one of @EnableKafka");
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
			assertThat(context.getStartupFailure()).isInstanceOf(IdempotencyConfigurationException.class);
			IdempotencyConfigurationException problem = (IdempotencyConfigurationException) context.getStartupFailure();
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

	@Configuration(proxyBeanMethods = false)
	static class OwnRegistry {

		@Bean("org.springframework.kafka.config.internalKafkaListenerEndpointRegistry")
		KafkaListenerEndpointRegistry registry() {
			return new KafkaListenerEndpointRegistry();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableKafkaRetryTopic
	static class RetryConfiguration {

		@Bean
		KafkaTemplate<String, String> kafkaTemplate() {
			return new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(Map.of()));
		}

		@Bean
		ThreadPoolTaskScheduler taskScheduler() {
			return new ThreadPoolTaskScheduler();
		}

	}

	static class EndlessDeadLetters {

		@RetryableTopic(kafkaTemplate = "kafkaTemplate", autoCreateTopics = "false")
		@KafkaListener(id = "orders", topics = "orders")
		public void on(String order) {
		}

		@DltHandler
		@Idempotent(header = "Idempotency-Key", fingerprint = "none")
		public void dead(ConsumerRecord<String, String> order) {
		}

	}

	static class DeadLettersOnce {

		@RetryableTopic(kafkaTemplate = "kafkaTemplate", autoCreateTopics = "false",
				dltStrategy = DltStrategy.FAIL_ON_ERROR)
		@KafkaListener(id = "orders", topics = "orders")
		public void on(String order) {
		}

		@DltHandler
		@Idempotent(header = "Idempotency-Key", fingerprint = "none")
		public void dead(ConsumerRecord<String, String> order) {
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

	static class TopicsOfAnExpression {

		@KafkaListener(topics = "#{'created,cancelled'.split(',')}", groupId = "orders")
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

	static class Retrying {

		@RetryableTopic(kafkaTemplate = "kafkaTemplate", autoCreateTopics = "false")
		@KafkaListener(id = "orders", topics = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class RetryingAll {

		@RetryableTopic(kafkaTemplate = "kafkaTemplate", autoCreateTopics = "false", include = IOException.class,
				includeNames = "io.idempotency.IdempotencyException")
		@KafkaListener(id = "orders", topics = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class RetryingSome {

		@RetryableTopic(kafkaTemplate = "kafkaTemplate", autoCreateTopics = "false",
				include = { IOException.class, IdempotencyInProgressException.class })
		@KafkaListener(id = "orders", topics = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class RetryingOthers {

		@RetryableTopic(kafkaTemplate = "kafkaTemplate", autoCreateTopics = "false", exclude = RuntimeException.class)
		@KafkaListener(id = "orders", topics = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class Plain {

		@KafkaListener(id = "orders", topics = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class Acknowledging {

		@KafkaListener(id = "orders", topics = "orders")
		@Idempotent("#order")
		public void on(String order, Acknowledgment acknowledgment) {
		}

	}

	static class Future {

		@KafkaListener(id = "orders", topics = "orders")
		@Idempotent("#order")
		public CompletableFuture<Void> on(String order) {
			return CompletableFuture.completedFuture(null);
		}

	}

	static class Unguarded {

		@KafkaListener(id = "orders", topics = "orders")
		public void on(String order) {
		}

	}

}
