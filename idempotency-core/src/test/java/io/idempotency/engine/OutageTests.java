package io.idempotency.engine;

import java.time.Duration;

import ch.qos.logback.classic.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When an outage begins and ends; {@link io.idempotency.engine.OutageLogTests} sees one
 * of a whole node.
 */
class OutageTests {

	private static final Throwable CAUSE = new IllegalStateException("down");

	private final ManualScheduler time = new ManualScheduler();

	private final CapturedLog log = new CapturedLog();

	private final Outage outage = new Outage("the store", this.time);

	@AfterEach
	void close() {
		this.log.close();
	}

	@Test
	void firstFailureIsAWarningAndTheOthersAreNone() {
		this.outage.failed("renew", "op", CAUSE);
		this.outage.failed("complete", "op", CAUSE);
		assertThat(this.log.messages(Level.WARN)).singleElement()
			.asString()
			.startsWith("the store could not renew a claim of 'op'");
	}

	@Test
	void outageIsOverWhenTheStoreHasAnsweredAndNotFailedForTwoSeconds() {
		this.outage.failed("renew", "op", CAUSE);
		this.time.advance(Duration.ofSeconds(5));
		this.outage.failed("renew", "op", CAUSE);
		this.outage.answered();
		this.time.advance(Duration.ofMillis(1_999));
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.log.messages(Level.WARN)).last()
			.asString()
			.isEqualTo("the store answers again, after 7 s in which 2 of its calls had failed");
	}

	@Test
	void storeThatFailsAgainSoonIsNotBackUntilItAnswersAnew() {
		this.outage.failed("renew", "op", CAUSE);
		this.outage.answered();
		this.time.advance(Duration.ofSeconds(1));
		this.outage.failed("renew", "op", CAUSE);
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
		this.outage.answered();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.log.messages(Level.WARN)).hasSize(2);
	}

	/** No call may come after that answer. */
	@Test
	void answerAfterTheLastFailureEndsTheOutageAlthoughOneFailedAfterAnEarlierAnswer() {
		this.outage.failed("renew", "op", CAUSE);
		this.outage.answered();
		this.time.advance(Duration.ofSeconds(1));
		this.outage.failed("renew", "op", CAUSE);
		this.outage.answered();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
		this.time.advance(Outage.QUIET);
		assertThat(this.log.messages(Level.WARN)).hasSize(2);
		assertThat(this.time.timers()).isZero();
	}

	@Test
	void outageIsOverOnceHoweverOftenTheStoreAnswers() {
		this.outage.failed("renew", "op", CAUSE);
		this.outage.answered();
		this.outage.answered();
		assertThat(this.time.timers()).isOne();
		this.time.advance(Duration.ofSeconds(2));
		this.outage.answered();
		assertThat(this.time.timers()).isZero();
		assertThat(this.log.messages(Level.WARN)).hasSize(2);
	}

	@Test
	void nextOutageIsANewOne() {
		this.outage.failed("renew", "op", CAUSE);
		this.outage.answered();
		this.time.advance(Duration.ofSeconds(2));
		this.outage.failed("claim", "op", CAUSE);
		this.outage.answered();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.log.messages(Level.WARN)).hasSize(4)
			.last()
			.asString()
			.endsWith("after 2 s in which 1 of its calls had failed");
	}

	@Test
	void oneCallASecondAsksAStoreThatIsAway() {
		for (int i = 0; i < 3; i++) {
			assertThat(this.outage.mayAsk()).isTrue();
			noAnswer();
		}
		assertThat(this.outage.mayAsk()).isFalse();
		this.time.advance(Outage.PAUSE);
		assertThat(this.outage.mayAsk()).isTrue();
		assertThat(this.outage.mayAsk()).as("while the other one asks").isFalse();
		this.time.advance(Duration.ofMillis(999));
		noAnswer();
		assertThat(this.outage.mayAsk()).isFalse();
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.outage.mayAsk()).isTrue();
		assertThat(this.outage.cause()).isSameAs(CAUSE);
	}

	@Test
	void everyCallAsksAStoreThatAnswersAgain() {
		for (int i = 0; i < 3; i++) {
			noAnswer();
		}
		this.outage.answered();
		assertThat(this.outage.mayAsk()).isTrue();
		noAnswer();
		noAnswer();
		assertThat(this.outage.mayAsk()).as("a few failures among answers").isTrue();
	}

	/** No call has met the store since it is back, so nothing is known. */
	@Test
	void everyCallAsksAStoreThatWasAwayLongAgo() {
		for (int i = 0; i < 3; i++) {
			noAnswer();
		}
		this.time.advance(Outage.FRESH);
		assertThat(this.outage.mayAsk()).isTrue();
		assertThat(this.outage.mayAsk()).as("at the same time").isTrue();
		noAnswer();
		assertThat(this.outage.mayAsk()).as("after one more failure").isTrue();
	}

	@Test
	void everyCallAsksAStoreWhoseOtherVerbsFail() {
		for (int i = 0; i < 5; i++) {
			this.outage.failed("renew", "op", CAUSE);
		}
		assertThat(this.outage.mayAsk()).isTrue();
	}

	@Test
	void troubleIsSeveralFailuresOfOneOutage() {
		this.outage.failed("make", "op", CAUSE);
		this.outage.answered();
		assertThat(this.outage.trouble()).isNull();
		this.outage.failed("make", "op", CAUSE);
		this.outage.failed("make", "op", CAUSE);
		assertThat(this.outage.trouble()).isSameAs(CAUSE);
		this.time.advance(Outage.QUIET);
		this.outage.answered();
		this.time.advance(Outage.QUIET);
		assertThat(this.outage.trouble()).isNull();
	}

	@Test
	void storeThatNeverFailedIsNotWatched() {
		this.outage.answered();
		assertThat(this.time.timers()).isZero();
	}

	private void noAnswer() {
		this.outage.failed("make", "op", CAUSE);
		this.outage.noAnswer();
	}

}
