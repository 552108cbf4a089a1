package io.idempotency.it.message;

import java.time.Duration;
import java.util.UUID;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.amqp.AmqpRejectAndDontRequeueException;
import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** A publisher or a broker delivers twice, and the effect happens once. */
@SpringBootTest(classes = RabbitApplication.class, webEnvironment = SpringBootTest.WebEnvironment.NONE,
		properties = "logging.level.io.idempotency.messaging=debug")
@ExtendWith(OutputCaptureExtension.class)
class RabbitListenerTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Autowired
	RabbitTemplate rabbit;

	@Autowired
	AmqpAdmin admin;

	@Autowired
	RabbitListenerEndpointRegistry containers;

	@Autowired
	Deliveries deliveries;

	@Autowired
	RabbitApplication.Failures failures;

	private final String payload = UUID.randomUUID().toString();

	@Test
	void keyIsInAHeader() {
		String last = UUID.randomUUID().toString();
		sendWithHeader(this.payload);
		sendWithHeader(this.payload);
		sendWithHeader(last);
		awaitEffects(last, 1);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void keyIsTheMessageId(CapturedOutput output) {
		String last = UUID.randomUUID().toString();
		sendWithId(this.payload);
		sendWithId(this.payload);
		sendWithId(last);
		awaitEffects(last, 1);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
		assertThat(output).containsPattern("Skipped a message that '.+[.]byMessageId\\(.+' processed before: "
				+ this.payload + ", record [0-9a-f]{64}");
	}

	@Test
	void failureIsReleasedAndRethrownToTheErrorHandler() {
		this.rabbit.convertAndSend("failing-once", this.payload);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.failures.seen).anySatisfy((failure) -> assertThat(failure)
				.hasRootCauseMessage("The first try of " + this.payload + " fails")));
		this.rabbit.convertAndSend("failing-once", this.payload);
		awaitEffects(this.payload, 1);
	}

	@Test
	void eachQueueGetsTheMessage() {
		this.rabbit.convertAndSend("two-a", this.payload);
		this.rabbit.convertAndSend("two-b", this.payload);
		awaitEffects(this.payload, 2);
	}

	/** A message that nobody acknowledged is in the queue when its consumer is gone. */
	@Test
	void skippedDuplicateIsAcknowledgedWhereTheListenerDoesSo() {
		sendTwiceAndLast("manual");
		this.containers.stop();
		try {
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(this.admin.getQueueInfo("manual").getMessageCount()).isZero());
		}
		finally {
			this.containers.start();
		}
	}

	/** A second acknowledgement would close the channel. */
	@ParameterizedTest
	@ValueSource(strings = { "channel", "keeping-nothing" })
	void skippedDuplicateIsLeftToTheContainer(String queue) {
		int before = this.failures.seen.size();
		sendTwiceAndLast(queue);
		sendTwiceAndLast(queue);
		assertThat(this.failures.seen).hasSize(before);
	}

	private void sendTwiceAndLast(String queue) {
		String twice = UUID.randomUUID().toString();
		String last = UUID.randomUUID().toString();
		this.rabbit.convertAndSend(queue, twice);
		this.rabbit.convertAndSend(queue, twice);
		this.rabbit.convertAndSend(queue, last);
		awaitEffects(last, 1);
		assertThat(this.deliveries.effectsOf(twice)).isEqualTo(1);
	}

	@Test
	void duplicateIsAnsweredWithTheFirstAnswer() {
		this.rabbit.convertAndSend("asking", this.payload);
		this.rabbit.convertAndSend("asking", this.payload);
		assertThat(this.rabbit.receiveAndConvert("answered")).isEqualTo(this.payload + " 1");
		assertThat(this.rabbit.receiveAndConvert("answered")).isEqualTo(this.payload + " 1");
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
	}

	@Test
	void keyThatItsProducerUsedForAnotherPayloadIsRejectedAtOnce() {
		this.failures.rejected.clear();
		String other = UUID.randomUUID().toString();
		String last = UUID.randomUUID().toString();
		sendWithHeader(this.payload);
		sendWithHeader(other, this.payload);
		sendWithHeader(last);
		awaitEffects(last, 1);
		assertThat(this.failures.rejected).singleElement().isInstanceOf(AmqpRejectAndDontRequeueException.class);
		assertThat(this.deliveries.effectsOf(this.payload)).isEqualTo(1);
		assertThat(this.deliveries.effectsOf(other)).isZero();
	}

	@Test
	void messageWithoutAnIdIsRejectedAtOnce() {
		this.failures.rejected.clear();
		String last = UUID.randomUUID().toString();
		this.rabbit.convertAndSend("by-amqp-id", this.payload);
		sendWithId(last);
		awaitEffects(last, 1);
		assertThat(this.failures.rejected).singleElement().isInstanceOf(AmqpRejectAndDontRequeueException.class);
		assertThat(this.deliveries.effectsOf(this.payload)).isZero();
	}

	private void sendWithHeader(String value) {
		sendWithHeader(value, value);
	}

	private void sendWithHeader(String value, String key) {
		this.rabbit.convertAndSend("", "by-header", value, (message) -> {
			message.getMessageProperties().setHeader("Idempotency-Key", key);
			return message;
		});
	}

	private void sendWithId(String value) {
		this.rabbit.convertAndSend("", "by-amqp-id", value, (message) -> {
			message.getMessageProperties().setMessageId(value);
			return message;
		});
	}

	private void awaitEffects(String effect, long count) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.deliveries.effectsOf(effect)).isEqualTo(count));
	}

}
