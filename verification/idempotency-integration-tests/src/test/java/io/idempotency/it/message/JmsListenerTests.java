package io.idempotency.it.message;

import java.time.Duration;
import java.util.UUID;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.jms.core.JmsTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** A sender or a broker delivers twice, and the effect happens once. */
@SpringBootTest(classes = JmsApplication.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
class JmsListenerTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Autowired
	JmsTemplate jms;

	@Autowired
	Deliveries deliveries;

	private final String payload = UUID.randomUUID().toString();

	@Test
	void keyIsInAProperty() {
		String last = UUID.randomUUID().toString();
		send("by-property", this.payload, this.payload);
		send("by-property", this.payload, this.payload);
		send("by-property", last, last);
		awaitEffects(last, 1);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void failedMessageIsDeliveredAgainWithItsId() {
		this.jms.convertAndSend("by-jms-id", this.payload);
		awaitEffects(this.payload, 1);
		assertThat(this.deliveries.enteredBy(this.payload)).isEqualTo(2);
	}

	@Test
	void eachQueueGetsTheMessage() {
		this.jms.convertAndSend("two-a", this.payload);
		this.jms.convertAndSend("two-b", this.payload);
		awaitEffects(this.payload, 2);
	}

	@Test
	void duplicateIsAnsweredWithTheFirstAnswer() {
		this.jms.convertAndSend("asking", this.payload);
		this.jms.convertAndSend("asking", this.payload);
		assertThat(this.jms.receiveAndConvert("answered")).isEqualTo(this.payload + " 1");
		assertThat(this.jms.receiveAndConvert("answered")).isEqualTo(this.payload + " 1");
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void messageWithoutAKeyEndsInTheDeadLetterQueue() {
		this.jms.convertAndSend("by-property", this.payload);
		assertThat(this.jms.receiveAndConvert("dead")).isEqualTo(this.payload);
		assertThat(this.deliveries.effectsOf(this.payload)).isZero();
	}

	@Test
	void keyThatItsProducerUsedForAnotherPayloadEndsInTheDeadLetterQueue() {
		String other = UUID.randomUUID().toString();
		send("by-property", this.payload, this.payload);
		awaitEffects(this.payload, 1);
		send("by-property", other, this.payload);
		assertThat(this.jms.receiveAndConvert("dead")).isEqualTo(other);
		assertThat(this.deliveries.effectsOf(other)).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "rolled-back", "recovered", "recovered-unguarded" })
	void messageThatItsListenerGivesBackIsProcessedByItsNextDelivery(String queue) {
		this.jms.convertAndSend(queue, this.payload);
		awaitEffects(this.payload, 1);
		assertThat(this.deliveries.enteredBy(this.payload)).isEqualTo(2);
	}

	private void send(String queue, String value, String key) {
		this.jms.convertAndSend(queue, value, (message) -> {
			message.setStringProperty("idempotencyKey", key);
			return message;
		});
	}

	private void awaitEffects(String effect, long count) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.deliveries.effectsOf(effect)).isEqualTo(count));
	}

}
