package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import ch.qos.logback.classic.Level;
import io.idempotency.engine.WriteRepeater.OutstandingWrite;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.engine.WriteRepeater.OutstandingWrite.Rank;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What becomes of writes that a store has not answered, in time that a test moves. */
class WriteRepeaterTests {

	private static final Duration DAY = Duration.ofDays(1);

	/** The names of the threads that were given work. */
	private final List<String> threads = new ArrayList<>();

	private final ManualScheduler time = new ManualScheduler((name) -> (task) -> {
		this.threads.add(name);
		task.run();
	});

	private final CapturedLog log = new CapturedLog();

	private final WriteRepeater writeRepeater = new WriteRepeater(this.time,
			new StoreCircuitBreaker("the store", this.time), new EventPublisher(new RecordedEvents()));

	private final List<Write> sent = new ArrayList<>();

	private boolean down;

	@AfterEach
	void close() {
		this.log.close();
	}

	@Test
	void resultBeyondTheBoundIsDroppedAndTheOthersAreKept() {
		Write large = repeated(WriteRepeater.MAX_RESULT_BYTES - 1);
		Write last = repeated(1);
		assertThat(this.writeRepeater.resultBytes()).isEqualTo(WriteRepeater.MAX_RESULT_BYTES);
		Write beyond = repeated(1);
		assertThat(this.writeRepeater.resultBytes()).isEqualTo(WriteRepeater.MAX_RESULT_BYTES);
		assertThat(large.bytes() + last.bytes()).isEqualTo(WriteRepeater.MAX_RESULT_BYTES);
		assertThat(beyond.bytes()).isZero();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.sent).containsExactlyInAnyOrder(large, last, beyond);
		assertThat(this.writeRepeater.resultBytes()).isZero();
		assertThat(this.writeRepeater.outstanding()).isZero();
	}

	@Test
	void roomOfAResultThatAFailureDropsIsFree() {
		this.down = true;
		Write dropped = repeated(5);
		dropped.dropsAtFailure = true;
		repeated(7);
		this.time.advance(Duration.ofMillis(100));
		assertThat(this.writeRepeater.resultBytes()).isEqualTo(7);
		assertThat(this.writeRepeater.outstanding()).isEqualTo(2);
	}

	@Test
	void claimsThatTheirLeaseEndsAreGivenBackWithinABound() {
		this.down = true;
		for (int i = 0; i < WriteRepeater.MAX_GIVE_BACKS; i++) {
			this.writeRepeater.giveBack(new Write(0), DAY, true);
		}
		this.writeRepeater.giveBack(new Write(0), DAY, true);
		assertThat(this.writeRepeater.outstanding()).isEqualTo(WriteRepeater.MAX_GIVE_BACKS);
		this.writeRepeater.giveBack(new Write(0), DAY, false);
		assertThat(this.writeRepeater.outstanding()).isEqualTo(WriteRepeater.MAX_GIVE_BACKS + 1);
		this.down = false;
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.writeRepeater.outstanding()).isZero();
		this.down = true;
		for (int i = 0; i <= WriteRepeater.MAX_GIVE_BACKS; i++) {
			this.writeRepeater.giveBack(new Write(0), DAY, true);
		}
		assertThat(this.writeRepeater.outstanding()).isEqualTo(WriteRepeater.MAX_GIVE_BACKS);
	}

	@Test
	void claimsThatAreLeftAtTheCloseTakeNoPlaceAfterTheNextStart() {
		this.writeRepeater.closed();
		for (int i = 0; i < WriteRepeater.MAX_GIVE_BACKS; i++) {
			this.writeRepeater.giveBack(new Write(0), DAY, true);
		}
		this.writeRepeater.open();
		this.writeRepeater.giveBack(new Write(0), DAY, true);
		assertThat(this.writeRepeater.outstanding()).isOne();
	}

	@Test
	void endsOfCallsTakeNoPlaceOfAClaimThatIsGivenBack() {
		for (int i = 0; i < 10; i++) {
			repeated(1);
		}
		this.time.advance(Duration.ofSeconds(1));
		for (int i = 0; i <= WriteRepeater.MAX_GIVE_BACKS; i++) {
			this.writeRepeater.giveBack(new Write(0), DAY, true);
		}
		assertThat(this.writeRepeater.outstanding()).isEqualTo(WriteRepeater.MAX_GIVE_BACKS);
	}

	@Test
	void claimsThatAreGivenBackHoldUpNoResults() {
		repeated(1);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.threads).containsExactly("retries");
		this.threads.clear();
		this.writeRepeater.giveBack(new Write(0), DAY, false);
		this.writeRepeater.giveBack(new Write(0), DAY, true);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.threads).containsExactly("give-backs", "give-backs");
	}

	@Test
	void writeIsGivenUpWhenItsTimeIsOver() {
		this.down = true;
		Write write = new Write(3);
		this.writeRepeater.repeat(write, Duration.ofSeconds(30));
		this.time.advance(Duration.ofSeconds(25));
		assertThat(write.gaveUp).isZero();
		this.time.advance(Duration.ofSeconds(15));
		assertThat(write.gaveUp).isOne();
		assertThat(this.log.messages(Level.ERROR)).hasSize(1);
		assertThat(this.writeRepeater.outstanding()).isZero();
		assertThat(this.writeRepeater.resultBytes()).isZero();
		int attempts = this.sent.size();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.sent).hasSize(attempts);
	}

	@Test
	void closeSendsEndsOfCallsFirstAndNothingAgain() {
		this.down = true;
		Write mayBeLeft = new Write(0);
		this.writeRepeater.giveBack(mayBeLeft, DAY, true);
		Write givenBack = new Write(0);
		this.writeRepeater.giveBack(givenBack, DAY, false);
		List<Write> ends = List.of(repeated(1), repeated(1), repeated(1));
		assertThat(List.of(mayBeLeft.rank, givenBack.rank, ends.get(0).rank)).containsExactly(Rank.MAY_BE_LEFT,
				Rank.GIVEN_BACK, Rank.ENDING);
		this.down = false;
		close(Duration.ofSeconds(10));
		assertThat(this.sent.subList(0, 3)).containsExactlyInAnyOrderElementsOf(ends);
		assertThat(this.sent.subList(3, 5)).containsExactly(givenBack, mayBeLeft);
		assertThat(this.writeRepeater.left()).isEmpty();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.sent).hasSize(5);
	}

	@Test
	void writeThatFailsAtTheCloseIsSentAgainUntilItsTimeIsOver() {
		this.down = true;
		Write write = repeated(1);
		close(Duration.ofSeconds(10));
		this.time.advance(Duration.ofSeconds(9));
		int attempts = this.sent.size();
		assertThat(attempts).isGreaterThan(80);
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.sent).hasSizeLessThan(attempts + 20);
		assertThat(this.writeRepeater.left()).containsOnlyKeys("op").containsValue(1);
		assertThat(write.answers).isEmpty();
		assertThat(this.log.messages(Level.WARN)).as("an outage").isEmpty();
	}

	@Test
	void writeThatTheStoreTakesDuringTheCloseIsDone() throws InterruptedException {
		this.down = true;
		repeated(1);
		CallsInProgress unfinished = close(Duration.ofSeconds(10));
		this.time.advance(Duration.ofSeconds(3));
		Write late = repeated(1);
		this.down = false;
		this.time.advance(Duration.ofSeconds(1));
		unfinished.await(Long.MAX_VALUE);
		assertThat(this.writeRepeater.left()).isEmpty();
		assertThat(late.answers).containsExactly(true);
	}

	private CallsInProgress close(Duration within) {
		return this.writeRepeater.close(this.time.nanos() + within.toNanos());
	}

	@Test
	void writeAfterTheCloseIsLeftToItsLease() {
		this.writeRepeater.closed();
		Write write = repeated(1);
		assertThat(write.gaveUp).isOne();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.sent).isEmpty();
		assertThat(this.log.messages(Level.WARN)).singleElement()
			.asString()
			.contains("failed to complete a claim of 'op' after shutdown");
	}

	@Test
	void endOfACallAfterTheCloseIsSentAfterTheNextStart() {
		this.writeRepeater.closed();
		Write write = repeated(1);
		this.writeRepeater.open();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.sent).containsExactly(write);
		assertThat(write.answers).hasSize(1);
		assertThat(this.writeRepeater.outstanding()).isZero();
		assertThat(this.writeRepeater.resultBytes()).isZero();
	}

	@Test
	void closeWaitsForNoWriteThatNoThreadTakesAfterItsTime() throws InterruptedException {
		this.down = true;
		repeated(1);
		this.time.close();
		CallsInProgress unfinished = close(Duration.ofSeconds(10));
		this.time.advance(Duration.ofSeconds(11));
		unfinished.await(Long.MAX_VALUE);
		assertThat(this.writeRepeater.outstanding()).isOne();
	}

	private Write repeated(long bytes) {
		Write write = new Write(bytes);
		this.writeRepeater.repeat(write, DAY);
		return write;
	}

	private final class Write extends OutstandingWrite {

		private long bytes;

		private boolean dropsAtFailure;

		private int gaveUp;

		private final List<Boolean> answers = new ArrayList<>();

		Write(long bytes) {
			super("complete", "op");
			this.bytes = bytes;
		}

		@Override
		public boolean send() {
			WriteRepeaterTests.this.sent.add(this);
			if (WriteRepeaterTests.this.down) {
				throw new IdempotencyStoreException("down");
			}
			return true;
		}

		@Override
		protected void failedAgain(Throwable cause) {
			if (this.dropsAtFailure) {
				dropResult();
			}
		}

		@Override
		protected void answered(boolean accepted) {
			this.answers.add(accepted);
		}

		@Override
		protected void gaveUp() {
			this.gaveUp++;
		}

		@Override
		protected long bytes() {
			return this.bytes;
		}

		@Override
		protected void dropResult() {
			this.bytes = 0;
		}

	}

}
