package io.idempotency.it.message;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyTemplate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** A broker delivers twice, and the effect happens once. */
@SpringBootTest(classes = KafkaApplication.class, webEnvironment = SpringBootTest.WebEnvironment.NONE,
		properties = "logging.level.io.idempotency.messaging=debug")
@ExtendWith(OutputCaptureExtension.class)
@ContextConfiguration(initializers = KafkaServer.class)
class KafkaListenerTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Autowired
	KafkaTemplate<String, String> kafka;

	@Autowired
	EmbeddedKafkaBroker broker;

	@Autowired
	ConsumerFactory<String, String> consumers;

	@Autowired
	KafkaListenerEndpointRegistry containers;

	@Autowired
	IdempotencyTemplate idempotency;

	@Autowired
	Deliveries deliveries;

	@Autowired
	KafkaApplication.DeadLetters deadLetters;

	@Autowired
	FailingStore store;

	private final String payload = UUID.randomUUID().toString();

	@Test
	void keyIsInAHeader() {
		send("by-header", this.payload, "key-" + this.payload);
		send("by-header", this.payload, "key-" + this.payload);
		String last = sendLast("by-header", "key-of-the-last");
		awaitEffect(last);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void keyIsTheKeyOfTheRecord() {
		this.kafka.send("by-record-key", "key-" + this.payload, this.payload).join();
		this.kafka.send("by-record-key", "key-" + this.payload, this.payload).join();
		String last = UUID.randomUUID().toString();
		this.kafka.send("by-record-key", "key-" + last, last).join();
		awaitEffect(last);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void keyIsInThePayload(CapturedOutput output) {
		this.kafka.send("by-payload", this.payload).join();
		this.kafka.send("by-payload", this.payload).join();
		awaitEffect(sendLast("by-payload"));
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
		assertThat(output).containsPattern("Skipped a message that '.+[.]byPayload\\(.+' processed before: "
				+ ".unknown id., record [0-9a-f]{64}");
	}

	@Test
	void recordIsDeliveredAgainWhenItsOffsetIsLost() throws Exception {
		this.kafka.send("by-message-id", this.payload).join();
		awaitEffect(this.payload);
		MessageListenerContainer container = this.containers.getListenerContainer("by-message-id");
		container.stop();
		try (Admin admin = admin()) {
			admin
				.alterConsumerGroupOffsets("by-message-id",
						Map.of(new TopicPartition("by-message-id", 0), new OffsetAndMetadata(0)))
				.all()
				.get();
		}
		container.start();
		awaitEffect(sendLast("by-message-id"));
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void eachConsumerGroupGetsTheMessage() {
		this.kafka.send("groups", this.payload).join();
		this.kafka.send("groups", this.payload).join();
		String last = sendLast("groups");
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.deliveries.effectsOf(last)).isEqualTo(2));
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(2);
	}

	@Test
	void failureIsReleasedAndRethrownToTheErrorHandler() {
		this.kafka.send("failing-once", this.payload).join();
		awaitEffect(this.payload);
		assertThat(this.deliveries.enteredBy(this.payload)).isEqualTo(2);
	}

	@Test
	void messageIsKeptWhileItsFirstCallRunsElsewhere() {
		CountDownLatch end = new CountDownLatch(1);
		CountDownLatch running = new CountDownLatch(1);
		CompletableFuture<Void> elsewhere = CompletableFuture.runAsync(() -> this.idempotency.operation("in-progress")
			.scope("KAFKA:in-progress")
			.key(this.payload)
			.execute(Void.class, () -> {
				running.countDown();
				Awaitility.await().atMost(PATIENCE).until(() -> end.getCount() == 0);
				throw new IllegalStateException("The call elsewhere fails after all");
			}));
		await(running);
		this.kafka.send("in-progress", this.payload).join();
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.deliveries.count("in-progress", IdempotencyEvent.IN_PROGRESS) > 0);
		assertThat(this.deliveries.effectsOf(this.payload)).isZero();
		end.countDown();
		assertThat(elsewhere).failsWithin(PATIENCE);
		awaitEffect(this.payload);
	}

	@Test
	void messageIsKeptWhileTheStoreIsDown() {
		this.store.down = true;
		this.kafka.send("store-down", this.payload).join();
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.deliveries.count("store-down", IdempotencyEvent.STORE_UNAVAILABLE) > 0);
		this.store.down = false;
		awaitEffect(this.payload);
		assertThat(this.deadLetters.values).doesNotContain(this.payload);
	}

	/** Another delivery tells no more, and would be the last one after some tries. */
	@Test
	void messageOfADeadConsumerWhoseOutcomeNobodyKnowsIsADeadLetter() {
		this.kafka.send("abandoned", this.payload).join();
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.deadLetters.values).contains(this.payload));
		assertThat(this.deadLetters.reasons.get(this.payload)).endsWith(" [code=outcome-unknown, retry=never]");
		assertThat(this.deliveries.effectsOf(this.payload)).isZero();
	}

	@Test
	void messageWithoutAKeyIsADeadLetterAtOnce() {
		this.kafka.send("keyless", this.payload).join();
		awaitEffect(sendLast("keyless", "key-of-the-last"));
		assertThat(this.deadLetters.values).contains(this.payload);
		assertThat(this.deadLetters.reasons.get(this.payload)).endsWith(" [code=key-missing, retry=fix-request]");
		assertThat(this.deliveries.effectsOf(this.payload)).isZero();
	}

	@Test
	void keyThatItsProducerUsedForAnotherPayloadIsADeadLetterAtOnce() {
		String other = UUID.randomUUID().toString();
		send("keyless", this.payload, "key-" + this.payload);
		send("keyless", other, "key-" + this.payload);
		awaitEffect(sendLast("keyless", "key-of-the-last"));
		assertThat(this.deadLetters.values).contains(other).doesNotContain(this.payload);
		assertThat(this.deadLetters.reasons.get(other)).endsWith(" [code=key-reused, retry=new-key]");
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
		assertThat(this.deliveries.effectsOf(other)).isZero();
	}

	@Test
	void skippedDuplicateIsAcknowledgedWhereTheListenerDoesSo() {
		this.kafka.send("manual", this.payload).join();
		this.kafka.send("manual", this.payload).join();
		awaitOffset("manual", 2);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void duplicateIsAnsweredWithTheFirstAnswer() {
		try (Consumer<String, String> answers = this.consumers.createConsumer("answers", "")) {
			answers.subscribe(Collections.singleton("answers"));
			this.kafka.send("answering", this.payload).join();
			this.kafka.send("answering", this.payload).join();
			List<String> received = new ArrayList<>();
			Awaitility.await().atMost(PATIENCE).until(() -> {
				answers.poll(Duration.ofMillis(100)).forEach((record) -> received.add(record.value()));
				return received.size() == 2;
			});
			assertThat(received).containsExactly(this.payload + " 1", this.payload + " 1");
		}
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void duplicateWhoseEndIsAllThatIsKeptIsSkippedAndNoDeadLetter() {
		this.kafka.send("keeping-nothing", this.payload).join();
		this.kafka.send("keeping-nothing", this.payload).join();
		awaitEffect(sendLast("keeping-nothing"));
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
		assertThat(this.deadLetters.values).doesNotContain(this.payload);
	}

	@Test
	void handlerOfAListenerClassIsGuarded() {
		this.kafka.send("handlers", this.payload).join();
		this.kafka.send("handlers", this.payload).join();
		awaitEffect(sendLast("handlers"));
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void partitionMovesWhileItsRecordIsProcessed() {
		this.kafka.send("moving", this.payload).join();
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.deliveries.count("moving", IdempotencyEvent.IN_PROGRESS) > 0);
		assertThat(this.deliveries.effectsOf(this.payload)).isZero();
		this.deliveries.end();
		awaitEffect(this.payload);
		awaitOffset("moving", 1);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
		assertThat(this.deliveries.enteredBy(this.payload)).isEqualTo(1);
		assertThat(this.deliveries.count("moving", IdempotencyEvent.REPLAYED)).isPositive();
		assertThat(this.deliveries.count("moving", IdempotencyEvent.LEASE_LOST)).isZero();
	}

	private void awaitOffset(String topic, long offset) {
		try (Admin admin = admin()) {
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(
						() -> assertThat(admin.listConsumerGroupOffsets(topic).partitionsToOffsetAndMetadata().get())
							.extractingByKey(new TopicPartition(topic, 0))
							.extracting(OffsetAndMetadata::offset)
							.isEqualTo(offset));
		}
	}

	private void send(String topic, String value, String key) {
		ProducerRecord<String, String> record = new ProducerRecord<>(topic, value);
		record.headers().add("Idempotency-Key", key.getBytes(StandardCharsets.UTF_8));
		this.kafka.send(record).join();
	}

	/** Sends what comes after all others of its partition. */
	private String sendLast(String topic, String key) {
		String last = UUID.randomUUID().toString();
		send(topic, last, key + last);
		return last;
	}

	private String sendLast(String topic) {
		return sendLast(topic, "");
	}

	private void awaitEffect(String effect) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.deliveries.effectsOf(effect)).isEqualTo(1));
	}

	private static void await(CountDownLatch latch) {
		Awaitility.await().atMost(PATIENCE).until(() -> latch.getCount() == 0);
	}

	private Admin admin() {
		return Admin.create(Map.of("bootstrap.servers", this.broker.getBrokersAsString()));
	}

}
