package io.idempotency.it.message;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;

import io.idempotency.IdempotencyEvent;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/** Dead letters and redelivery, as only a real RabbitMQ has them. */
@SpringBootTest(classes = RabbitRedeliveryApplication.class, properties = "idempotency.wait-timeout=200ms",
		webEnvironment = SpringBootTest.WebEnvironment.NONE)
@Requires(Backend.RABBIT)
class RabbitRedeliveryTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Autowired
	RabbitTemplate rabbit;

	@Autowired
	AmqpAdmin admin;

	@Autowired
	CachingConnectionFactory connections;

	@Autowired
	Deliveries deliveries;

	@Autowired
	RabbitRedeliveryApplication.Payloads payloads;

	private final String payload = UUID.randomUUID().toString();

	@ParameterizedTest
	@ValueSource(strings = { "keyless-redelivery", "keyless-later" })
	void messageWithoutAKeyIsADeadLetterAtOnce(String queue) {
		this.rabbit.convertAndSend(queue, this.payload);
		Message dead = deadLetter();
		assertThat(dead.getMessageProperties().getXDeathHeader()).singleElement().satisfies((death) -> {
			assertThat(death.get("reason")).isEqualTo("rejected");
			assertThat(death.get("count")).isEqualTo(1L);
		});
		assertThat(this.deliveries.effectsOf(this.payload)).isZero();
	}

	@Test
	void poisonIsADeadLetterAfterItsDeliveriesAndItsKeyIsFree() {
		this.payloads.poison.add(this.payload);
		this.rabbit.convertAndSend("poisoned", this.payload);
		deadLetter();
		assertThat(this.deliveries.enteredBy(this.payload)).isEqualTo(3);
		this.payloads.poison.remove(this.payload);
		this.rabbit.convertAndSend("poisoned", this.payload);
		awaitEffect();
	}

	/** With its consumer, or in the queue. */
	@ParameterizedTest
	@ValueSource(strings = { "sent-back", "sent-back-manually", "limited" })
	void duplicateOfARunningDeliveryComesAgainUntilThatIsDone(String queue) {
		CountDownLatch end = workUntilTheEnd();
		long replayed = this.deliveries.count(queue, IdempotencyEvent.REPLAYED);
		this.rabbit.convertAndSend(queue, this.payload);
		awaitEntered();
		this.rabbit.convertAndSend(queue, this.payload);
		awaitInProgress(queue, 3);
		assertThat(this.deliveries.effectsOf(this.payload)).isZero();
		end.countDown();
		awaitEffect();
		awaitEvents(queue, IdempotencyEvent.REPLAYED, replayed + 1);
		assertThat(this.deliveries.enteredBy(this.payload)).isEqualTo(1);
	}

	/** The broker gives the message to another consumer, while the first still works. */
	@Test
	void messageOfACutConnectionIsDeliveredAgainAndProcessedOnce() {
		CountDownLatch end = workUntilTheEnd();
		this.rabbit.convertAndSend("cut", this.payload);
		awaitEntered();
		this.connections.resetConnection();
		awaitInProgress("cut", 1);
		end.countDown();
		awaitEffect();
		awaitEvents("cut", IdempotencyEvent.REPLAYED, 1);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.admin.getQueueInfo("cut").getMessageCount()).isZero());
		assertThat(this.deliveries.enteredBy(this.payload)).isEqualTo(1);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	private CountDownLatch workUntilTheEnd() {
		CountDownLatch end = new CountDownLatch(1);
		this.payloads.running.put(this.payload, end);
		return end;
	}

	private Message deadLetter() {
		Message dead = this.rabbit.receive(RabbitRedeliveryApplication.DEAD_LETTERS);
		assertThat(dead).isNotNull();
		assertThat(dead.getBody()).asString().isEqualTo(this.payload);
		return dead;
	}

	private void awaitEntered() {
		Awaitility.await().atMost(PATIENCE).until(() -> this.deliveries.enteredBy(this.payload) == 1);
	}

	private void awaitInProgress(String queue, int times) {
		awaitEvents(queue, IdempotencyEvent.IN_PROGRESS, times);
	}

	private void awaitEvents(String queue, IdempotencyEvent event, long times) {
		Awaitility.await().atMost(PATIENCE).until(() -> this.deliveries.count(queue, event) >= times);
	}

	private void awaitEffect() {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1));
	}

}
