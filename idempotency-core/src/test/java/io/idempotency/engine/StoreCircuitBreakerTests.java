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
class StoreCircuitBreakerTests {

	private static final Throwable CAUSE = new IllegalStateException("down");

	private final ManualScheduler time = new ManualScheduler();

	private final CapturedLog log = new CapturedLog();

	private final StoreCircuitBreaker breaker = new StoreCircuitBreaker("the store", this.time);

	@AfterEach
	void close() {
		this.log.close();
	}

	@Test
	void firstFailureIsAWarningAndTheOthersAreNone() {
		this.breaker.failed("renew", "op", CAUSE);
		this.breaker.failed("complete", "op", CAUSE);
		assertThat(this.log.messages(Level.WARN)).singleElement()
			.asString()
			.startsWith("[IDEM-201] Idempotency store the store is failing (could not renew a claim of 'op')");
	}

	@Test
	void outageIsOverWhenTheStoreHasAnsweredAndNotFailedForTwoSeconds() {
		this.breaker.failed("renew", "op", CAUSE);
		this.time.advance(Duration.ofSeconds(5));
		this.breaker.failed("renew", "op", CAUSE);
		this.breaker.answered();
		this.time.advance(Duration.ofMillis(1_999));
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.log.messages(Level.WARN)).last()
			.asString()
			.startsWith("[IDEM-202] Idempotency store the store recovered after 7 s with 2 failed operations. ");
	}

	@Test
	void storeThatFailsAgainSoonIsNotBackUntilItAnswersAnew() {
		this.breaker.failed("renew", "op", CAUSE);
		this.breaker.answered();
		this.time.advance(Duration.ofSeconds(1));
		this.breaker.failed("renew", "op", CAUSE);
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
		this.breaker.answered();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.log.messages(Level.WARN)).hasSize(2);
	}

	/** No call may come after that answer. */
	@Test
	void answerAfterTheLastFailureEndsTheOutageAlthoughOneFailedAfterAnEarlierAnswer() {
		this.breaker.failed("renew", "op", CAUSE);
		this.breaker.answered();
		this.time.advance(Duration.ofSeconds(1));
		this.breaker.failed("renew", "op", CAUSE);
		this.breaker.answered();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.log.messages(Level.WARN)).hasSize(1);
		this.time.advance(StoreCircuitBreaker.QUIET);
		assertThat(this.log.messages(Level.WARN)).hasSize(2);
		assertThat(this.time.timers()).isZero();
	}

	@Test
	void outageIsOverOnceHoweverOftenTheStoreAnswers() {
		this.breaker.failed("renew", "op", CAUSE);
		this.breaker.answered();
		this.breaker.answered();
		assertThat(this.time.timers()).isOne();
		this.time.advance(Duration.ofSeconds(2));
		this.breaker.answered();
		assertThat(this.time.timers()).isZero();
		assertThat(this.log.messages(Level.WARN)).hasSize(2);
	}

	@Test
	void nextOutageIsANewOne() {
		this.breaker.failed("renew", "op", CAUSE);
		this.breaker.answered();
		this.time.advance(Duration.ofSeconds(2));
		this.breaker.failed("claim", "op", CAUSE);
		this.breaker.answered();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.log.messages(Level.WARN)).hasSize(4)
			.last()
			.asString()
			.contains(" recovered after 2 s with 1 failed operations. ");
	}

	@Test
	void oneCallASecondAsksAStoreThatIsAway() {
		for (int i = 0; i < 3; i++) {
			assertThat(this.breaker.mayAsk()).isTrue();
			noAnswer();
		}
		assertThat(this.breaker.mayAsk()).isFalse();
		this.time.advance(StoreCircuitBreaker.PAUSE);
		assertThat(this.breaker.mayAsk()).isTrue();
		assertThat(this.breaker.mayAsk()).as("while the other one asks").isFalse();
		this.time.advance(Duration.ofMillis(999));
		noAnswer();
		assertThat(this.breaker.mayAsk()).isFalse();
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.breaker.mayAsk()).isTrue();
		assertThat(this.breaker.cause()).isSameAs(CAUSE);
	}

	@Test
	void everyCallAsksAStoreThatAnswersAgain() {
		for (int i = 0; i < 3; i++) {
			noAnswer();
		}
		this.breaker.answered();
		assertThat(this.breaker.mayAsk()).isTrue();
		noAnswer();
		noAnswer();
		assertThat(this.breaker.mayAsk()).as("a few failures among answers").isTrue();
	}

	/** No call has met the store since it is back, so nothing is known. */
	@Test
	void everyCallAsksAStoreThatWasAwayLongAgo() {
		for (int i = 0; i < 3; i++) {
			noAnswer();
		}
		this.time.advance(StoreCircuitBreaker.FRESH);
		assertThat(this.breaker.mayAsk()).isTrue();
		assertThat(this.breaker.mayAsk()).as("at the same time").isTrue();
		noAnswer();
		assertThat(this.breaker.mayAsk()).as("after one more failure").isTrue();
	}

	@Test
	void everyCallAsksAStoreWhoseOtherVerbsFail() {
		for (int i = 0; i < 5; i++) {
			this.breaker.failed("renew", "op", CAUSE);
		}
		assertThat(this.breaker.mayAsk()).isTrue();
	}

	@Test
	void troubleIsSeveralFailuresOfOneOutage() {
		this.breaker.failed("make", "op", CAUSE);
		this.breaker.answered();
		assertThat(this.breaker.trouble()).isNull();
		this.breaker.failed("make", "op", CAUSE);
		this.breaker.failed("make", "op", CAUSE);
		assertThat(this.breaker.trouble()).isSameAs(CAUSE);
		this.time.advance(StoreCircuitBreaker.QUIET);
		this.breaker.answered();
		this.time.advance(StoreCircuitBreaker.QUIET);
		assertThat(this.breaker.trouble()).isNull();
	}

	@Test
	void storeThatNeverFailedIsNotWatched() {
		this.breaker.answered();
		assertThat(this.time.timers()).isZero();
	}

	private void noAnswer() {
		this.breaker.failed("make", "op", CAUSE);
		this.breaker.noAnswer();
	}

}
