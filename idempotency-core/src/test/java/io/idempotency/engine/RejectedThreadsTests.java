package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.store.ClaimResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One call of the scheduler throws an error, whichever it is: renewals, answers, repeated
 * writes and the story of the outage go on as if nothing had happened.
 */
class RejectedThreadsTests {

	/** More calls than a story makes, so that each of them is rejected once. */
	private static final int CALLS = 120;

	/** A story that needs timers and threads of all kinds. */
	enum Story {

		/** Two long calls, whose completion the store fails to take for a while. */
		LONG {
			@Override
			void tell(RejectedThreadsTests test, String name) throws Throwable {
				CompletableFuture<String> work = new CompletableFuture<>();
				CompletableFuture<Object> answer = test.start(work);
				test.advance(name, Duration.ofSeconds(50), true);
				test.node.store.failBefore(Verb.COMPLETE, 4);
				work.complete("one");
				assertThat(answer).as(name).isCompletedWithValue("one");
				test.advance(name, Duration.ofSeconds(20), false);
			}
		},

		/** The store is away, and then back. */
		OUTAGE {
			@Override
			void tell(RejectedThreadsTests test, String name) throws Throwable {
				CompletableFuture<String> work = new CompletableFuture<>();
				test.start(work);
				test.node.store.failBefore(Verb.RENEW, 2);
				test.advance(name, Duration.ofSeconds(50), true);
				assertThat(test.node.log.messages(Level.WARN)).as(name).hasSize(2);
				assertThat(test.node.log.messages(Level.WARN).get(1)).as(name).contains("recovered after");
				work.complete("one");
			}
		}

		;

		abstract void tell(RejectedThreadsTests test, String name) throws Throwable;

	}

	private ManualScheduler time = new ManualScheduler();

	private EngineFixture node = new EngineFixture(this.time);

	@SuppressWarnings("unchecked")
	private CompletableFuture<Object> start(CompletableFuture<String> work) throws Throwable {
		Object answer = this.node.execute(TestPolicy.replay(), TestAction.async(() -> work));
		return (CompletableFuture<Object>) answer;
	}

	private void advance(String name, Duration duration, boolean claimed) {
		for (Duration rest = duration; rest.compareTo(Duration.ZERO) > 0; rest = rest.minusMillis(100)) {
			this.node.clock.advance(Duration.ofMillis(100));
			this.time.advance(Duration.ofMillis(100));
			if (claimed) {
				assertThat(this.node.askElsewhere(TestPolicy.replay())).as(name)
					.isInstanceOf(ClaimResult.InProgress.class);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void callOfTheSchedulerThatThrowsEndsNothing(Story story) throws Throwable {
		int calls = CALLS;
		for (int rejected = 1; rejected <= calls; rejected++) {
			this.time = new ManualScheduler();
			this.node = new EngineFixture(this.time);
			try {
				// The line to the store exists, as on every node but a new one.
				this.node.engine.runtime().of(this.node.store);
				this.time.rejectCall(rejected);
				String name = "call " + rejected + " of the scheduler is rejected";
				story.tell(this, name);
				assertThat(this.node.askElsewhere(TestPolicy.replay())).as(name)
					.isInstanceOf(ClaimResult.Completed.class);
				assertThat(this.node.engine.load().runningClaims()).as(name).isZero();
				assertThat(this.node.engine.load().outstandingWrites()).as(name).isZero();
			}
			finally {
				this.node.close();
			}
		}
		assertThat(this.time.calls()).as("every call was rejected once").isLessThan(CALLS);
	}

	@Test
	void lineToAStoreWithoutThreadsIsMadeByTheNextCall() throws Throwable {
		this.time.rejectCall(1);
		try {
			this.node.execute(TestPolicy.replay(), TestAction.returning("one"));
		}
		catch (Throwable rejected) {
			assertThat(this.node.askElsewhere(TestPolicy.replay())).isInstanceOf(ClaimResult.Acquired.class);
		}
		finally {
			this.node.close();
		}
	}

}
