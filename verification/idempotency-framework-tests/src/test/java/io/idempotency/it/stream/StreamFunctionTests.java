package io.idempotency.it.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyTemplate;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** A producer or Kafka delivers twice, and the effect of the function happens once. */
@SpringBootTest(classes = StreamApplication.class, webEnvironment = SpringBootTest.WebEnvironment.NONE, properties = {
		"idempotency.store=memory", "spring.cloud.function.definition=payments;receipts;answers;bookings;patient",
		"spring.cloud.stream.default.group=shop", "spring.cloud.stream.bindings.payments-in-0.destination=payments",
		"spring.cloud.stream.bindings.receipts-in-0.destination=orders",
		"spring.cloud.stream.bindings.receipts-out-0.destination=receipts",
		"spring.cloud.stream.bindings.answers-in-0.destination=receipts",
		"spring.cloud.stream.bindings.bookings-in-0.destination=bookings",
		"spring.cloud.stream.bindings.patient-in-0.destination=patient",
		"spring.cloud.stream.bindings.patient-in-0.consumer.max-attempts=1",
		"spring.cloud.stream.kafka.bindings.patient-in-0.consumer.common-error-handler-bean-name=untilDecided" })
@DirtiesContext
class StreamFunctionTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** After these it goes on behind the event, unless it is told otherwise. */
	private static final int TRIES_OF_THE_BINDER = 2;

	private static final EmbeddedKafkaKraftBroker BROKER = startBroker();

	private static final DefaultKafkaProducerFactory<String, String> PRODUCERS = new DefaultKafkaProducerFactory<>(
			Map.of("bootstrap.servers", BROKER.getBrokersAsString()), new StringSerializer(), new StringSerializer());

	@Autowired
	StreamEffects effects;

	@Autowired
	IdempotencyTemplate idempotency;

	private final String id = UUID.randomUUID().toString();

	private static EmbeddedKafkaKraftBroker startBroker() {
		EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
		broker.brokerProperty("offsets.topic.num.partitions", "1");
		broker.brokerProperty("group.initial.rebalance.delay.ms", "0");
		broker.afterPropertiesSet();
		Runtime.getRuntime().addShutdownHook(new Thread(broker::destroy));
		return broker;
	}

	@DynamicPropertySource
	static void brokers(DynamicPropertyRegistry registry) {
		registry.add("spring.cloud.stream.kafka.binder.brokers", BROKER::getBrokersAsString);
	}

	@AfterAll
	static void stop() {
		PRODUCERS.destroy();
	}

	@ParameterizedTest
	@ValueSource(strings = { "payments", "bookings" })
	void duplicateIsSkipped(String topic) {
		String last = UUID.randomUUID().toString();
		send(topic, this.id);
		send(topic, this.id);
		send(topic, last);
		awaitEffect(last);
		assertThat(this.effects.effectsOf(this.id)).isEqualTo(1);
	}

	@Test
	void firstAnswerIsSentAgain() {
		String last = UUID.randomUUID().toString();
		send("orders", this.id);
		send("orders", this.id);
		send("orders", last);
		awaitEffect(last);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.effects.answersTo(this.id)).hasSize(2)
				.allSatisfy((answer) -> assertThat(answer).contains("\"number\":1")));
		assertThat(this.effects.effectsOf(this.id)).isEqualTo(1);
	}

	@Test
	void failedFunctionRunsAgain() {
		String failing = "failing-" + this.id;
		send("payments", failing);
		send("payments", failing);
		send("payments", this.id);
		awaitEffect(this.id);
		assertThat(this.effects.effectsOf(failing)).isEqualTo(1);
	}

	/** Nobody has processed the event if its first call fails. */
	@Test
	void eventWhoseFirstCallStillRunsComesAgainUntilThatIsDecided() throws Exception {
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Void> elsewhere = CompletableFuture
			.runAsync(() -> this.idempotency.operation(StreamApplication.Patient.OPERATION)
				.key(this.id)
				.execute(Void.class, () -> {
					running.countDown();
					Awaitility.await().atMost(PATIENCE).until(() -> end.getCount() == 0);
					throw new IllegalStateException("The first call fails");
				}));
		running.await();
		send("patient", this.id);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.effects.count(StreamApplication.Patient.OPERATION,
					IdempotencyEvent.IN_PROGRESS) > TRIES_OF_THE_BINDER);
		end.countDown();
		assertThat(elsewhere).failsWithin(PATIENCE);
		awaitEffect(this.id);
	}

	private void send(String topic, String event) {
		ProducerRecord<String, String> record = new ProducerRecord<>(topic, "{\"id\":\"" + event + "\"}");
		record.headers().add("Idempotency-Key", event.getBytes(StandardCharsets.UTF_8));
		new KafkaTemplate<>(PRODUCERS).send(record).join();
	}

	private void awaitEffect(String event) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.effects.effectsOf(event)).isEqualTo(1));
	}

}
