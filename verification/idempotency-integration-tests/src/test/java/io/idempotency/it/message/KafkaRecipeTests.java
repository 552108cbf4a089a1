package io.idempotency.it.message;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyTemplate;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** The recipes of the documentation keep what they promise. */
@SpringBootTest(classes = KafkaRecipesApplication.class, webEnvironment = SpringBootTest.WebEnvironment.NONE,
		properties = { "idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=always" })
@ContextConfiguration(initializers = KafkaServer.class)
class KafkaRecipeTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Autowired
	KafkaTemplate<String, String> kafka;

	@Autowired
	IdempotencyTemplate idempotency;

	@Autowired
	JdbcTemplate jdbc;

	@Autowired
	Deliveries deliveries;

	@Autowired
	KafkaRecipesApplication.DeadLetterList deadLetters;

	private final String payload = UUID.randomUUID().toString();

	private final String failingOnce = KafkaRecipes.FAILING_ONCE + this.payload;

	@Test
	void retryTopicBelongsToTheGroupOfTheMainTopic() {
		this.kafka.send("retried", this.failingOnce).join();
		awaitEffect(this.failingOnce);
		this.kafka.send("retried", this.failingOnce).join();
		this.kafka.send("retried", this.payload).join();
		awaitEffect(this.payload);
		assertThat(this.deliveries.effectsOf(this.failingOnce)).isEqualTo(1);
		assertThat(this.deliveries.enteredBy(this.failingOnce)).isEqualTo(2);
	}

	@Test
	void retryTopicKeepsAsADeadLetterWhatRunsElsewhereForTooLong() throws Exception {
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Void> elsewhere = runElsewhere("retried", "KAFKA:retried", running, end);
		this.kafka.send("retried", this.payload).join();
		Awaitility.await().atMost(PATIENCE).until(() -> this.deadLetters.values.contains(this.payload));
		end.countDown();
		assertThat(elsewhere).succeedsWithin(PATIENCE);
		assertThat(this.deliveries.enteredBy(this.payload)).isZero();
	}

	@Test
	void poisonIsADeadLetterAfterItsTriesAndTheNextRecordIsProcessed() {
		String poison = KafkaRecipes.POISON + this.payload;
		this.kafka.send("poison", poison).join();
		this.kafka.send("poison", this.payload).join();
		awaitEffect(this.payload);
		Awaitility.await().atMost(PATIENCE).until(() -> this.deadLetters.values.contains(poison));
		assertThat(this.deliveries.enteredBy(poison)).isEqualTo(3);
	}

	@Test
	void transactionOfKafkaIsRolledBackAndTheRecordRunsAgain() {
		this.kafka.send("in-transaction", this.failingOnce).join();
		this.kafka.send("in-transaction", this.failingOnce).join();
		this.kafka.send("in-transaction", this.payload).join();
		awaitEffect(this.payload);
		assertThat(this.deliveries.effectsOf(this.failingOnce)).isEqualTo(1);
		assertThat(this.deliveries.enteredBy(this.failingOnce)).isEqualTo(2);
	}

	@Test
	void recordOfTheGuardCommitsWithInboxAndOutbox() {
		this.kafka.send("inbox", this.failingOnce).join();
		this.kafka.send("inbox", this.failingOnce).join();
		this.kafka.send("inbox", this.payload).join();
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(rows("orders where id = ?", this.payload)).isEqualTo(1));
		assertThat(rows("orders where id = ?", this.failingOnce)).isEqualTo(1);
		assertThat(rows("outbox where message = ?", this.failingOnce)).isEqualTo(1);
		assertThat(this.deliveries.enteredBy(this.failingOnce)).isEqualTo(2);
	}

	@Test
	void outboxThatIsSentTwiceHasOneEffect() {
		this.kafka.send("inbox", this.payload).join();
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(rows("outbox where message = ?", this.payload)).isEqualTo(1));
		sendOutbox(this.payload);
		// A relay that died before it removed what it had sent.
		sendOutbox(this.payload);
		String last = UUID.randomUUID().toString();
		this.jdbc.update("insert into outbox (id, message) values (?, ?)", last, last);
		sendOutbox(last);
		awaitEffect(last);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void recordsOfABatchBeforeTheFailedOneAreNotRunTwice() {
		this.kafka.send("batch", this.payload).join();
		this.kafka.send("batch", this.failingOnce).join();
		this.kafka.send("batch", this.payload).join();
		String last = UUID.randomUUID().toString();
		this.kafka.send("batch", last).join();
		awaitEffect(last);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
		assertThat(this.deliveries.enteredBy(this.payload)).isEqualTo(1);
		assertThat(this.deliveries.effectsOf(this.failingOnce)).isEqualTo(1);
		assertThat(this.deliveries.enteredBy(this.failingOnce)).isEqualTo(2);
	}

	@Test
	void batchWaitsForARecordThatRunsElsewhere() throws Exception {
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Void> elsewhere = runElsewhere("book", "", running, end);
		String before = UUID.randomUUID().toString();
		String last = UUID.randomUUID().toString();
		this.kafka.send("batch", before).join();
		this.kafka.send("batch", this.payload).join();
		this.kafka.send("batch", last).join();
		awaitEffect(before);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.deliveries.count("book", IdempotencyEvent.IN_PROGRESS) > 0);
		end.countDown();
		assertThat(elsewhere).succeedsWithin(PATIENCE);
		awaitEffect(last);
		assertThat(this.deliveries.enteredBy(this.payload)).isZero();
	}

	private CompletableFuture<Void> runElsewhere(String operation, String scope, CountDownLatch running,
			CountDownLatch end) throws InterruptedException {
		CompletableFuture<Void> elsewhere = CompletableFuture.runAsync(() -> {
			IdempotencyTemplate.Call call = this.idempotency.operation(operation).key(this.payload);
			(scope.isEmpty() ? call : call.scope(scope)).execute(Void.class, () -> {
				running.countDown();
				Awaitility.await().atMost(PATIENCE).until(() -> end.getCount() == 0);
				return null;
			});
		});
		running.await();
		return elsewhere;
	}

	private void sendOutbox(String message) {
		this.jdbc.query("select id, message from outbox where message = ?", (row) -> {
			ProducerRecord<String, String> record = new ProducerRecord<>("outbox", row.getString("message"));
			record.headers().add("Idempotency-Key", row.getString("id").getBytes(StandardCharsets.UTF_8));
			this.kafka.send(record).join();
		}, message);
	}

	private int rows(String condition, String parameter) {
		Integer count = this.jdbc.queryForObject("select count(*) from " + condition, Integer.class, parameter);
		return (count != null) ? count : 0;
	}

	private void awaitEffect(String effect) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.deliveries.effectsOf(effect)).isEqualTo(1));
	}

}
