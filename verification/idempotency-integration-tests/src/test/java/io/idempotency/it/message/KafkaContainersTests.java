package io.idempotency.it.message;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.store.SchedulerThread;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Records that are acknowledged out of order are neither held up nor lost. */
@Nightly
@SpringBootTest(classes = KafkaContainersApplication.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
@ContextConfiguration(initializers = KafkaServer.class)
class KafkaContainersTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int RECORDS = 1000;

	@Autowired
	KafkaTemplate<String, String> kafka;

	@Autowired
	EmbeddedKafkaBroker broker;

	@Autowired
	KafkaListenerEndpointRegistry containers;

	@Autowired
	IdempotencyTemplate idempotency;

	@Autowired
	Deliveries deliveries;

	@Autowired
	KafkaContainersApplication.Listeners listeners;

	@Autowired
	KafkaContainersApplication.Acknowledging acknowledging;

	@ParameterizedTest
	@ValueSource(strings = { "future", "async-acks" })
	void oneRejectionStopsNoPartition(String topic) {
		List<String> payloads = IntStream.range(0, RECORDS).mapToObj((i) -> topic + i).toList();
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Void> elsewhere = runElsewhere(topic, payloads.get(10), end);
		payloads.forEach((payload) -> this.kafka.send(topic, payload));
		this.kafka.flush();
		Awaitility.await().atMost(PATIENCE).until(() -> this.deliveries.count(topic, IdempotencyEvent.IN_PROGRESS) > 0);
		end.countDown();
		assertThat(elsewhere).failsWithin(PATIENCE);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(payloads).allMatch((payload) -> this.deliveries.effectsOf(payload) == 1));
		awaitOffset(topic, RECORDS);
	}

	@Test
	void recordWaitsForItsFirstCallInEachContainer() {
		List<String> topics = List.of("own-handler", "choosy", "in-transaction-by-default");
		CountDownLatch end = new CountDownLatch(1);
		List<CompletableFuture<Void>> elsewhere = topics.stream()
			.map((topic) -> runElsewhere(topic, "first of " + topic, end))
			.toList();
		topics.forEach((topic) -> {
			this.kafka.send(topic, "first of " + topic);
			this.kafka.send(topic, "last of " + topic);
		});
		// Those that do not wait try again at once.
		Awaitility.await()
			.during(Duration.ofSeconds(3))
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(topics).allSatisfy((topic) -> {
				assertThat(this.deliveries.count(topic, IdempotencyEvent.IN_PROGRESS)).isPositive();
				assertThat(this.deliveries.effectsOf("last of " + topic)).isZero();
			}));
		end.countDown();
		assertThat(elsewhere).allSatisfy((call) -> assertThat(call).failsWithin(PATIENCE));
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(topics).allSatisfy((topic) -> {
			assertThat(this.deliveries.effectsOf("first of " + topic)).isEqualTo(1);
			assertThat(this.deliveries.effectsOf("last of " + topic)).isEqualTo(1);
		}));
	}

	@Test
	void rejectionTakesNoUnfinishedRecordWithIt() throws Exception {
		String held = "held-" + UUID.randomUUID();
		String rejected = UUID.randomUUID().toString();
		String last = UUID.randomUUID().toString();
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Void> elsewhere = runElsewhere("held", rejected, end);
		List.of(held, rejected, last).forEach((payload) -> this.kafka.send("held", payload).join());
		this.containers.getListenerContainer("held").start();
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.deliveries.count("held", IdempotencyEvent.IN_PROGRESS) > 0);
		end.countDown();
		assertThat(elsewhere).failsWithin(PATIENCE);
		Awaitility.await().atMost(PATIENCE).until(() -> this.deliveries.effectsOf(last) == 1);
		assertThat(offsets("held")).allSatisfy((partition, offset) -> assertThat(offset.offset()).isZero());
		this.listeners.endHeld();
		awaitOffset("held", 3);
	}

	@ParameterizedTest
	@ValueSource(strings = { "in-message", "in-headers", "in-map", "in-header", "client" })
	void duplicateIsAcknowledgedInEachWayTheListenerCan(String topic) {
		String payload = UUID.randomUUID().toString();
		this.kafka.send(topic, payload);
		this.kafka.send(topic, payload);
		awaitOffset(topic, 2);
		assertThat(this.deliveries.effectsOf(payload)).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "nacked", "sought" })
	void recordThatTheListenerTakesBackRunsAgain(String topic) {
		String payload = UUID.randomUUID().toString();
		this.kafka.send(topic, payload);
		Awaitility.await().atMost(PATIENCE).until(() -> this.deliveries.effectsOf(payload) == 1);
		awaitOffset(topic, 1);
		assertThat(this.deliveries.enteredBy(payload)).isEqualTo(2);
	}

	@Test
	void claimIsOpenUntilTheRecordIsAcknowledged() {
		String payload = UUID.randomUUID().toString();
		this.kafka.send("handed-over", payload);
		Awaitility.await().atMost(PATIENCE).until(() -> this.deliveries.enteredBy(payload) == 1);
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> run("handed-over", payload));
		this.acknowledging.end(payload);
		awaitOffset("handed-over", 1);
		run("handed-over", payload);
		assertThat(this.deliveries.effectsOf(payload)).isZero();
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void listenerThatAcknowledgesAfterItsReturnIsTold(CapturedOutput output) {
		String payload = UUID.randomUUID().toString();
		this.kafka.send("acknowledged-late", payload);
		Awaitility.await().atMost(PATIENCE).until(() -> this.deliveries.enteredBy(payload) == 1);
		Awaitility.await().atMost(PATIENCE).until(() -> {
			run("acknowledged-late", payload);
			return true;
		});
		this.acknowledging.end(payload);
		assertThat(output).contains("'acknowledged-late' acknowledged a record from another thread");
		awaitOffset("acknowledged-late", 1);
	}

	/** Calls what the listener guards; has no effect if its record is done. */
	private void run(String operation, String payload) {
		this.idempotency.operation(operation).scope("KAFKA:" + operation).key(payload).execute(Void.class, () -> {
			this.deliveries.effect(payload);
			return null;
		});
	}

	private CompletableFuture<Void> runElsewhere(String operation, String payload, CountDownLatch end) {
		CountDownLatch running = new CountDownLatch(1);
		CompletableFuture<Void> elsewhere = SchedulerThread.run(() -> this.idempotency.operation(operation)
			.scope("KAFKA:" + operation)
			.key(payload)
			.execute(Void.class, () -> {
				running.countDown();
				Awaitility.await().atMost(PATIENCE).until(() -> end.getCount() == 0);
				throw new IllegalStateException("The call elsewhere fails after all");
			}));
		Awaitility.await().atMost(PATIENCE).until(() -> running.getCount() == 0);
		return elsewhere;
	}

	private void awaitOffset(String topic, long offset) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(offsets(topic)).extractingByKey(new TopicPartition(topic, 0))
				.extracting(OffsetAndMetadata::offset)
				.isEqualTo(offset));
	}

	private Map<TopicPartition, OffsetAndMetadata> offsets(String topic) throws Exception {
		try (Admin admin = Admin.create(Map.of("bootstrap.servers", this.broker.getBrokersAsString()))) {
			return admin.listConsumerGroupOffsets(topic).partitionsToOffsetAndMetadata().get();
		}
	}

}
