package io.idempotency.messaging;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.Mockito;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.jms.annotation.EnableJms;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.config.DefaultJmsListenerContainerFactory;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.messaging.Message;
import org.springframework.scheduling.annotation.Async;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A listener that could not be guarded is rejected, and the message says what to choose.
 */
@ExtendWith(OutputCaptureExtension.class)
class ListenerStartupTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyMessagingAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory", "orders.queue=orders");

	@Test
	void listenerOfKafkaWithoutAKey() {
		assertThat(failureOf(KafkaWithoutKey.class)).contains("KafkaWithoutKey#on(String)")
			.contains("it has no key source")
			.contains("It is a Kafka listener")
			.contains("key = \"messageId()\", which is topic, partition and offset");
	}

	@Test
	void listenerOfRabbitWithoutAKey() {
		assertThat(failureOf(RabbitWithoutKey.class)).contains("RabbitWithoutKey#on(String)")
			.contains("It is a RabbitMQ listener")
			.contains("createMessageIds");
	}

	@Test
	void listenerOfJmsWithoutAKey() {
		assertThat(failureOf(JmsWithoutKey.class)).contains("JmsWithoutKey#on(String)")
			.contains("It is a JMS listener");
	}

	@Test
	void listenerOfEventsWithoutAKey() {
		assertThat(failureOf(EventWithoutKey.class)).contains("EventWithoutKey#on(String)")
			.contains("It is an event listener");
	}

	@Test
	void headerOfAMessageThatIsNotAtHand() {
		assertThat(failureOf(HeaderWithoutMessage.class)).contains("HeaderWithoutMessage#on(String)")
			.contains("none of its parameters holds the message")
			.contains("ConsumerRecord<String, Order> record");
	}

	@Test
	void idOfAMessageThatIsNotAtHand() {
		assertThat(failureOf(IdWithoutMessage.class)).contains("none of its parameters holds the message");
	}

	@Test
	void containersThatAcknowledgeBeforeTheListenerRuns(CapturedOutput output) {
		this.runner.withUserConfiguration(HastyContainers.class).withBean(Hasty.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output)
				.containsPattern("The container of '.+onRabbit.+' acknowledges messages before the listener runs")
				.containsPattern("The session of '.+onJms.+' acknowledges messages before the listener runs");
		});
	}

	@Test
	void headerOfAMessageInAnApplicationOfWebFlux() {
		this.runner.withBean("webHandler", Object.class)
			.withBean(HeaderOfRecord.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void idOfNoMessage() {
		assertThat(failureOf(NoListener.class)).contains("it is not a message listener");
	}

	@Test
	void manyMessagesAtATime() {
		assertThat(failureOf(Batch.class)).contains("Batch#on(List)")
			.contains("it takes several messages at a time")
			.contains("IdempotencyTemplate, and call it for each message");
	}

	@Test
	void manyMessagesOfRabbitAtATime() {
		assertThat(failureOf(RabbitBatch.class)).contains("it takes several messages at a time");
	}

	/** It cannot tell what is done from what still runs. */
	@Test
	void modeThatRejects() {
		for (Class<?> listener : List.of(RejectingKafka.class, RejectingRabbit.class, RejectingJms.class)) {
			assertThat(failureOf(listener)).contains(listener.getSimpleName() + "#on(String)")
				.contains("mode = REJECT does not distinguish")
				.contains("keepResult = false")
				.contains("onAbandoned = AbandonedMode.REJECT");
		}
	}

	@Test
	void listenersThatAreAsync() {
		assertThat(failureOf(AsyncKafka.class)).contains("AsyncKafka#on(String)")
			.contains("it is @Async")
			.contains("return a CompletableFuture");
		assertThat(failureOf(AsyncJms.class)).contains("it is @Async").doesNotContain("CompletableFuture");
	}

	@Test
	void futureOfJms() {
		assertThat(failureOf(FutureOfJms.class)).contains("FutureOfJms#on(String)")
			.contains("Spring JMS does not wait")
			.contains("Return the value itself, or void");
	}

	@Test
	void bodyOfNoRequest() {
		assertThat(failureOf(BodyOfMessage.class)).contains("body reads the body of a request");
	}

	@Test
	void severalQueuesAndNoneKnown() {
		assertThat(failureOf(TwoQueues.class)).contains("its queue is not known").contains("set scope");
	}

	@Test
	void idOfAMessageOfAFunction() {
		assertThat(failureOf(IdOfFunction.class)).contains("it is not a message listener");
	}

	@Test
	void functionsThatCanBeGuarded() {
		this.runner.withUserConfiguration(GoodFunction.class, HeaderOfNoMessage.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void listenersThatCanBeGuarded() {
		this.runner.withUserConfiguration(Good.class).run((context) -> assertThat(context).hasNotFailed());
	}

	private String failureOf(Class<?> listener) {
		StringBuilder failure = new StringBuilder();
		this.runner.withUserConfiguration(listener).run((context) -> {
			assertThat(context).hasFailed();
			Throwable cause = context.getStartupFailure();
			while (cause.getCause() != null) {
				cause = cause.getCause();
			}
			assertThat(cause).isInstanceOf(IdempotencyConfigurationException.class);
			IdempotencyConfigurationException problem = (IdempotencyConfigurationException) cause;
			failure.append(problem.getMessage()).append(' ').append(problem.action());
		});
		return failure.toString();
	}

	static class KafkaWithoutKey {

		@KafkaListener(topics = "orders")
		@Idempotent
		public void on(String order) {
		}

	}

	static class RabbitWithoutKey {

		@RabbitListener(queues = "orders")
		@Idempotent
		public void on(String order) {
		}

	}

	static class JmsWithoutKey {

		@JmsListener(destination = "orders")
		@Idempotent
		public void on(String order) {
		}

	}

	static class EventWithoutKey {

		@EventListener
		@Idempotent
		public void on(String order) {
		}

	}

	static class HeaderOfRecord {

		@KafkaListener(topics = "orders")
		@Idempotent(header = "Idempotency-Key")
		public void on(ConsumerRecord<String, String> order) {
		}

	}

	static class HeaderWithoutMessage {

		@KafkaListener(topics = "orders")
		@Idempotent(header = "Idempotency-Key")
		public void on(String order) {
		}

	}

	static class IdWithoutMessage {

		@KafkaListener(topics = "orders")
		@Idempotent("{messageId(), #order}")
		public void on(String order) {
		}

	}

	static class NoListener {

		@Idempotent("messageId()")
		public void on(String order) {
		}

	}

	static class Batch {

		@KafkaListener(topics = "orders")
		@Idempotent("#orders")
		public void on(List<String> orders) {
		}

	}

	static class RabbitBatch {

		@RabbitListener(queues = "orders")
		@Idempotent("#orders")
		public void on(List<String> orders) {
		}

	}

	static class BodyOfMessage {

		@KafkaListener(topics = "orders")
		@Idempotent(body = "/id")
		public void on(String order) {
		}

	}

	static class RejectingKafka {

		@KafkaListener(topics = "orders")
		@Idempotent(key = "#order", mode = IdempotencyMode.REJECT)
		public void on(String order) {
		}

	}

	static class RejectingRabbit {

		@RabbitListener(queues = "orders")
		@Idempotent(key = "#order", mode = IdempotencyMode.REJECT)
		public void on(String order) {
		}

	}

	static class RejectingJms {

		@JmsListener(destination = "orders")
		@Idempotent(key = "#order", mode = IdempotencyMode.REJECT)
		public void on(String order) {
		}

	}

	static class AsyncKafka {

		@Async
		@KafkaListener(topics = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	@Async
	static class AsyncJms {

		@JmsListener(destination = "orders")
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class FutureOfJms {

		@JmsListener(destination = "orders")
		@Idempotent("#order")
		public CompletableFuture<Void> on(String order) {
			return CompletableFuture.completedFuture(null);
		}

	}

	static class TwoQueues {

		@RabbitListener(queues = { "orders", "returns" })
		@Idempotent("#order")
		public void on(String order) {
		}

	}

	static class IdOfFunction implements Consumer<Message<String>> {

		@Override
		@Idempotent("messageId()")
		public void accept(Message<String> message) {
		}

	}

	static class GoodFunction implements Function<Message<String>, String> {

		@Override
		@Idempotent("#message.headers['Idempotency-Key']")
		public String apply(Message<String> message) {
			return message.getPayload();
		}

	}

	static class HeaderOfNoMessage implements Consumer<String> {

		@Override
		@Idempotent(header = "Idempotency-Key")
		public void accept(String order) {
		}

	}

	static class Good {

		@KafkaListener(topics = "orders")
		@Idempotent("messageId()")
		public void kafka(ConsumerRecord<String, String> order) {
		}

		@RabbitListener(queues = "${orders.queue}")
		@Idempotent("#order")
		public void rabbit(String order) {
		}

		@RabbitListener(queues = { "orders", "returns" })
		@Idempotent(header = "Idempotency-Key")
		public void queues(Message<String> order) {
		}

		@JmsListener(destination = "orders")
		@Idempotent("#order")
		public void jms(String order) {
		}

		@RabbitListener(queues = "ids")
		@Idempotent(header = "id")
		public void id(String order, org.springframework.amqp.core.Message message) {
		}

		@RabbitListener(queues = "other-ids")
		@Idempotent("{#order.headers['idempotency'], header('identity')}")
		public void otherIds(Message<String> order) {
		}

		@EventListener
		@Idempotent("#order")
		public void event(String order) {
		}

	}

	static class Hasty {

		@RabbitListener(queues = "hasty")
		@Idempotent("#payload")
		public void onRabbit(String payload) {
		}

		@JmsListener(destination = "hasty")
		@Idempotent("#payload")
		public void onJms(String payload) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableRabbit
	@EnableJms
	static class HastyContainers {

		@Bean
		SimpleRabbitListenerContainerFactory rabbitListenerContainerFactory() {
			SimpleRabbitListenerContainerFactory factory = new SimpleRabbitListenerContainerFactory();
			factory.setConnectionFactory(new CachingConnectionFactory("127.0.0.1", 1));
			factory.setAcknowledgeMode(AcknowledgeMode.NONE);
			factory.setAutoStartup(false);
			return factory;
		}

		@Bean
		DefaultJmsListenerContainerFactory jmsListenerContainerFactory() {
			DefaultJmsListenerContainerFactory factory = new DefaultJmsListenerContainerFactory();
			factory.setConnectionFactory(Mockito.mock());
			factory.setAutoStartup(false);
			return factory;
		}

	}

}
