package io.idempotency.it.message;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import com.rabbitmq.client.Channel;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Idempotent;
import io.idempotency.RememberedFailureException;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.messaging.IdempotencyMessagingAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.amqp.AmqpRejectAndDontRequeueException;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.messaging.support.MessageHeaderAccessor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a listener of RabbitMQ tells the broker is its outcome. The channel is played: it
 * notes each call together with the state of the key in that moment.
 */
class RabbitWordTests {

	private static final String FREE = "free";

	private static final String DONE = "DONE";

	private final ApplicationContextRunner bare = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyMessagingAutoConfiguration.class))
		.withBean(FailingStore.class, () -> new FailingStore("orders"));

	private final ApplicationContextRunner runner = this.bare.withUserConfiguration(Orders.class, Futures.class,
			Automatic.class);

	@Test
	void acknowledgementComesAfterTheEndOfTheClaim() {
		run((orders, broker) -> {
			orders.saying((channel) -> channel.basicAck(7, false));
			orders.on("a", broker.channel, 7);
			assertThat(broker.calls).containsExactly("basicAck(7, false) " + DONE);
			orders.on("a", broker.channel, 8);
			assertThat(broker.calls).last().isEqualTo("basicAck(8, false) " + DONE);
			assertThat(orders.runs()).isEqualTo(1);
		});
	}

	@Test
	void keyOfAMessageThatIsNackedIsFreeBeforeTheBrokerHears() {
		run((orders, broker) -> {
			orders.saying((channel) -> channel.basicNack(7, false, true));
			orders.on("a", broker.channel, 7);
			assertThat(broker.calls).containsExactly("basicNack(7, false, true) " + FREE);
			orders.on("a", broker.channel, 8);
			assertThat(orders.runs()).isEqualTo(2);
		});
	}

	/** Also that of a dead letter, which somebody may send again. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void keyOfAMessageThatIsRejectedIsFree(boolean requeue) {
		run((orders, broker) -> {
			orders.saying((channel) -> channel.basicReject(7, requeue));
			orders.on("a", broker.channel, 7);
			assertThat(broker.calls).containsExactly("basicReject(7, " + requeue + ") " + FREE);
		});
	}

	@Test
	void keyIsFreeIfAllMessagesAreGivenBack() {
		run((orders, broker) -> {
			orders.saying((channel) -> channel.basicNack(9, true, true));
			orders.on("a", broker.channel, 7);
			assertThat(broker.calls).containsExactly("basicNack(9, true, true) " + FREE);
		});
	}

	@Test
	void failureOfAListenerThatHasAcknowledgedLeavesTheKeyFree() {
		run((orders, broker) -> {
			orders.saying((channel) -> {
				channel.basicAck(7, false);
				throw new IllegalArgumentException("Too late");
			});
			assertThatExceptionOfType(IllegalArgumentException.class)
				.isThrownBy(() -> orders.on("a", broker.channel, 7));
			assertThat(broker.calls).containsExactly("basicAck(7, false) " + FREE);
		});
	}

	/** The next delivery is to run, though failures are remembered. */
	@Test
	void failureOfAMessageThatIsGivenBackIsNotRemembered() {
		run((orders, broker) -> {
			orders.saying((channel) -> {
				channel.basicNack(7, false, true);
				throw new IllegalArgumentException("Not now");
			});
			assertThatExceptionOfType(IllegalArgumentException.class)
				.isThrownBy(() -> orders.remembering("a", broker.channel, 7));
			orders.saying((channel) -> {
				throw new IllegalArgumentException("Never");
			});
			assertThatExceptionOfType(IllegalArgumentException.class)
				.isThrownBy(() -> orders.remembering("a", broker.channel, 7));
			assertThatExceptionOfType(MessageConversionException.class)
				.isThrownBy(() -> orders.remembering("a", broker.channel, 7))
				.withCauseInstanceOf(RememberedFailureException.class);
			assertThat(orders.runs()).isEqualTo(2);
		});
	}

	@Test
	void firstWordCounts() {
		run((orders, broker) -> {
			orders.saying((channel) -> {
				channel.basicNack(7, false, true);
				channel.basicAck(7, false);
			});
			orders.on("a", broker.channel, 7);
			assertThat(broker.calls).containsExactly("basicNack(7, false, true) " + FREE, "basicAck(7, false) " + FREE);
		});
	}

	@Test
	void wordAboutAnotherMessageIsNoneAboutThisOne() {
		run((orders, broker) -> {
			orders.saying((channel) -> {
				channel.basicNack(3, false, true);
				channel.basicAck(7, false);
			});
			orders.on("a", broker.channel, 7);
			assertThat(broker.calls).containsExactly("basicNack(3, false, true) RUNNING", "basicAck(7, false) " + DONE);
		});
	}

	/** As a listener does that hands its work to a pool. */
	@Test
	void listenerThatHasReturnedWithoutAWordEndsWithItsWord() {
		run((orders, broker) -> {
			List<Channel> kept = new ArrayList<>();
			orders.saying(kept::add);
			orders.on("a", broker.channel, 7);
			orders.on("b", broker.channel, 8);
			assertThat(broker.states()).containsExactly("RUNNING", "RUNNING");
			kept.get(1).basicNack(8, false, true);
			assertThat(broker.calls).containsExactly("basicNack(8, false, true) RUNNING");
			kept.get(0).basicAck(7, false);
			assertThat(broker.calls).last().isEqualTo("basicAck(7, false) " + DONE);
			assertThat(broker.states()).containsExactly(DONE);
		});
	}

	@Test
	void wordAboutSeveralMessagesEndsThoseThatAreOpen() {
		run((orders, broker) -> {
			orders.saying((channel) -> {
			});
			orders.on("a", broker.channel, 7);
			orders.on("b", broker.channel, 8);
			orders.saying((channel) -> channel.basicAck(9, true));
			orders.on("c", broker.channel, 9);
			assertThat(broker.calls).containsExactly("basicAck(9, true) DONE DONE DONE");
		});
	}

	@Test
	void messageGoesBackWhileTheStoreIsDown() {
		run((orders, broker) -> {
			broker.store.down = true;
			orders.on("a", broker.channel, 7);
			assertThat(broker.calls).containsExactly("basicNack(7, false, true) " + FREE);
			assertThat(orders.runs()).isZero();
		});
	}

	/** Even a container that drops what fails has to deliver it again. */
	@Test
	void containerIsToldToQueueAgainWhileTheStoreIsDown() {
		this.runner.run((context) -> {
			context.getBean(FailingStore.class).down = true;
			assertThatExceptionOfType(ImmediateRequeueAmqpException.class)
				.isThrownBy(() -> context.getBean(Automatic.class).on("a"))
				.withCauseInstanceOf(IdempotencyStoreUnavailableException.class);
			CompletableFuture<Void> answer = context.getBean(Futures.class).on("a");
			assertThat(answer).isCompletedExceptionally();
			assertThat(failureOf(answer)).isInstanceOf(ImmediateRequeueAmqpException.class);
		});
	}

	/** The container asks no error handler of a future that fails. */
	@Test
	void futureOfAMessageThatNoDeliveryCanHelpFailsWithARejection() {
		this.runner.run((context) -> {
			Futures futures = context.getBean(Futures.class);
			assertThat(failureOf(futures.withHeader(new Message(new byte[0], new MessageProperties()))))
				.isInstanceOf(AmqpRejectAndDontRequeueException.class)
				.hasMessageContaining("[code=key-missing, ")
				.cause()
				.isInstanceOf(MessageConversionException.class);
			assertThat(failureOf(futures.remembering("a"))).isInstanceOf(IllegalArgumentException.class);
			assertThat(failureOf(futures.remembering("a"))).isInstanceOf(AmqpRejectAndDontRequeueException.class)
				.hasRootCauseInstanceOf(RememberedFailureException.class);
		});
	}

	private static Throwable failureOf(CompletableFuture<Void> answer) {
		return answer.handle((nothing, failure) -> failure).join();
	}

	/** Whoever acknowledges. */
	@Test
	void messageWhoseFailureIsRememberedIsADeadLetter() {
		this.runner.run((context) -> {
			Automatic automatic = context.getBean(Automatic.class);
			assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> automatic.remembering("a"));
			assertThatExceptionOfType(MessageConversionException.class).isThrownBy(() -> automatic.remembering("a"))
				.withCauseInstanceOf(RememberedFailureException.class);
		});
	}

	@Test
	void containerThatAcknowledgesHearsOfTheEndOfTheClaimOnly() {
		this.runner.run((context) -> {
			Broker broker = new Broker(context.getBean(IdempotencyAdmin.class), context.getBean(FailingStore.class));
			Automatic automatic = context.getBean(Automatic.class);
			automatic.withChannel("a", broker.channel, 7);
			automatic.withChannel("a", broker.channel, 8);
			assertThat(broker.calls).isEmpty();
		});
	}

	@Test
	void everyFormOfTheTag() throws Exception {
		MessageProperties properties = new MessageProperties();
		properties.setDeliveryTag(7);
		MessageHeaders headers = new MessageHeaders(Map.of(AmqpHeaders.DELIVERY_TAG, 7L));
		run((orders, broker) -> {
			MessageHeaderAccessor accessor = new MessageHeaderAccessor(new GenericMessage<>("f", headers));
			for (int delivery = 0; delivery < 2; delivery++) {
				orders.amqp("a", broker.channel, new Message(new byte[0], properties));
				orders.properties("b", broker.channel, properties);
				orders.message(new GenericMessage<>("c", headers), broker.channel);
				orders.headers("d", broker.channel, headers);
				orders.map("e", broker.channel, headers);
				orders.accessor("f", broker.channel, accessor);
				orders.optional("g", broker.channel, Optional.of(7L));
				orders.text("h", broker.channel, "7");
				orders.byName("i", broker.channel, 7);
			}
			assertThat(orders.runs()).isEqualTo(9);
			assertThat(broker.calls).hasSize(18).allMatch((call) -> call.startsWith("basicAck(7, false) "));
		});
	}

	@Test
	void manualListenerWithoutATag() {
		assertThat(failureOf(NoTag.class)).contains("acknowledges its messages itself", "@Header");
		assertThat(failureOf(NoChannel.class)).contains("acknowledges its messages itself", "Channel channel");
	}

	/** Who acknowledges a message was asked when its work was done. */
	@Test
	void listenerThatAcknowledgesOnlySomeOfItsMessages() {
		assertThat(failureOf(this.bare, Mixed.class, Containers.class)).contains("Mixed#on(String, Channel, long)",
				"whether it acknowledges its messages itself", "ackMode");
	}

	@Test
	void modeOfAPropertyCounts() {
		assertThat(failureOf(this.bare.withPropertyValues("orders.ack=MANUAL"), ModeOfProperty.class))
			.contains("ModeOfProperty#on(String)", "it acknowledges its messages itself");
	}

	private String failureOf(Class<?> listener) {
		return failureOf(this.runner, listener);
	}

	private static String failureOf(ApplicationContextRunner runner, Class<?>... listener) {
		StringBuilder failure = new StringBuilder();
		runner.withUserConfiguration(listener).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure()).hasRootCauseInstanceOf(IdempotencyConfigurationException.class);
			IdempotencyConfigurationException problem = (IdempotencyConfigurationException) NestedExceptionUtils
				.getMostSpecificCause(context.getStartupFailure());
			failure.append(problem.getMessage()).append(' ').append(problem.action());
		});
		return failure.toString();
	}

	private void run(Scenario scenario) {
		this.runner.run((context) -> scenario.play(context.getBean(Orders.class),
				new Broker(context.getBean(IdempotencyAdmin.class), context.getBean(FailingStore.class))));
	}

	private interface Scenario {

		void play(Orders orders, Broker broker) throws Exception;

	}

	/** Notes what it is told. */
	private static final class Broker {

		final List<String> calls = new CopyOnWriteArrayList<>();

		final Channel channel = (Channel) Proxy.newProxyInstance(Channel.class.getClassLoader(),
				new Class<?>[] { Channel.class }, (proxy, method, arguments) -> switch (method.getName()) {
					case "hashCode" -> System.identityHashCode(proxy);
					case "equals" -> proxy == arguments[0];
					case "isOpen" -> true;
					default -> {
						String given = List.of(arguments).toString();
						this.calls.add(method.getName() + "(" + given.substring(1, given.length() - 1) + ") "
								+ String.join(" ", states()));
						yield null;
					}
				});

		private final IdempotencyAdmin admin;

		final FailingStore store;

		Broker(IdempotencyAdmin admin, FailingStore store) {
			this.admin = admin;
			this.store = store;
		}

		List<String> states() {
			List<String> states = this.admin.list("orders", null, 10)
				.records()
				.stream()
				.map(IdempotencyRecord::state)
				.map(String::valueOf)
				.toList();
			return states.isEmpty() ? List.of(FREE) : states;
		}

	}

	/** Says something through a channel. */
	interface Saying {

		void to(Channel channel) throws IOException;

	}

	static class Orders {

		private Saying says = (channel) -> channel.basicAck(7, false);

		private int runs;

		public void saying(Saying saying) {
			this.says = saying;
		}

		public int runs() {
			return this.runs;
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent(key = "#payload", operation = "orders")
		public void on(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag) throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent(key = "#payload", operation = "remembering", onFailure = FailureMode.REMEMBER)
		public void remembering(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag)
				throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void amqp(String payload, Channel channel, Message message) throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void properties(String payload, Channel channel, MessageProperties properties) throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#message.payload")
		public void message(org.springframework.messaging.Message<String> message, Channel channel) throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void headers(String payload, Channel channel, MessageHeaders headers) throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void map(String payload, Channel channel, @Headers Map<String, Object> headers) throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void accessor(String payload, Channel channel, MessageHeaderAccessor headers) throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void optional(String payload, Channel channel,
				@Header(name = AmqpHeaders.DELIVERY_TAG) Optional<Long> tag) throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void text(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) String tag)
				throws IOException {
			say(channel);
		}

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void byName(String payload, Channel channel, @Header long amqp_deliveryTag) throws IOException {
			say(channel);
		}

		private void say(Channel channel) throws IOException {
			this.runs++;
			this.says.to(channel);
		}

	}

	static class Futures {

		@RabbitListener(queues = "orders")
		@Idempotent(key = "#payload", operation = "orders")
		public CompletableFuture<Void> on(String payload) {
			return CompletableFuture.completedFuture(null);
		}

		@RabbitListener(queues = "orders")
		@Idempotent(header = "Idempotency-Key", operation = "with-header")
		public CompletableFuture<Void> withHeader(Message message) {
			return CompletableFuture.completedFuture(null);
		}

		@RabbitListener(queues = "orders")
		@Idempotent(key = "#payload", operation = "remembering-later", onFailure = FailureMode.REMEMBER)
		public CompletableFuture<Void> remembering(String payload) {
			return CompletableFuture.failedFuture(new IllegalArgumentException("Never"));
		}

	}

	static class Automatic {

		@RabbitListener(queues = "orders")
		@Idempotent(key = "#payload", operation = "remembering-automatically", onFailure = FailureMode.REMEMBER)
		public void remembering(String payload) {
			throw new IllegalArgumentException("Never");
		}

		@RabbitListener(queues = "orders")
		@Idempotent(key = "#payload", operation = "orders")
		public void on(String payload) {
		}

		@RabbitListener(queues = "orders")
		@Idempotent(key = "#payload", operation = "orders")
		public void withChannel(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag) {
		}

	}

	static class NoTag {

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void on(String payload, Channel channel) {
		}

	}

	static class NoChannel {

		@RabbitListener(queues = "orders", ackMode = "MANUAL")
		@Idempotent("#payload")
		public void on(String payload, @Header(AmqpHeaders.DELIVERY_TAG) long tag) {
		}

	}

	static class ModeOfProperty {

		@RabbitListener(queues = "orders", ackMode = "${orders.ack}")
		@Idempotent("#payload")
		public void on(String payload) {
		}

	}

	static class Mixed {

		@RabbitListener(queues = "mixed")
		@Idempotent("#payload")
		public void on(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag) {
		}

		@RabbitListener(queues = "mixed", ackMode = "MANUAL")
		public void other(String payload, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag) {
		}

	}

	/** None of them starts. */
	@EnableRabbit
	static class Containers {

		@Bean
		SimpleRabbitListenerContainerFactory rabbitListenerContainerFactory() {
			SimpleRabbitListenerContainerFactory factory = new SimpleRabbitListenerContainerFactory();
			factory.setConnectionFactory(new CachingConnectionFactory("127.0.0.1", 1));
			factory.setAutoStartup(false);
			return factory;
		}

	}

}
