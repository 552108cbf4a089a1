package io.idempotency.engine;

import java.time.Duration;
import java.util.List;

import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.StoredResult;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The table of {@link ClaimStateMachine}, row by row. */
class ClaimStateMachineTests {

	/** Clocks of a JVM begin anywhere. */
	private static final long START = Long.MAX_VALUE - 1;

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final ClaimResult.InProgress BUSY = new ClaimResult.InProgress(Duration.ofSeconds(7));

	private static final IdempotencyStoreException LOST = new IdempotencyStoreException("reply lost");

	private static final StoreNotReachedException NOT_REACHED = new StoreNotReachedException("no connection", LOST);

	private static final UnreadableRecordException UNREADABLE = new UnreadableRecordException("not a record", LOST);

	private TestPolicy policy = TestPolicy.replay().lease(LEASE);

	private long now = START;

	private ClaimStateMachine begun() {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(),
				new MemoryIdempotencyStore(64_000));
		ClaimStateMachine admission = new ClaimStateMachine(call, ClaimOrigin.UNKNOWN);
		assertThat(admission.begin(this.now)).isEqualTo(NextStep.SEND);
		assertThat(admission.sentNanos()).isEqualTo(this.now);
		assertThat(admission.call()).isSameAs(call);
		return admission;
	}

	/** Whose duplicate has asked twice by now. */
	private ClaimStateMachine waiting() {
		this.policy.waiting(Duration.ofSeconds(10));
		ClaimStateMachine admission = begun();
		admission.answered(BUSY, this.now);
		assertThat(admission.woken(this.now)).isEqualTo(NextStep.SEND);
		return admission;
	}

	private void pass(Duration time) {
		this.now += time.toNanos();
	}

	private static ClaimResult.Acquired granted(ClaimStateMachine admission) {
		return new ClaimResult.Acquired(new Claim(admission.request().key(), admission.request().claimId(), 7, false),
				ClaimOrigin.UNKNOWN);
	}

	private static void assertRejected(NextStep move, @Nullable Throwable cause, boolean givenBack) {
		assertThat(move).isInstanceOfSatisfying(NextStep.Reject.class, (reject) -> {
			assertThat(reject.giveBack()).isEqualTo(givenBack);
			IdempotencyStoreUnavailableException exception = reject.exception();
			assertThat(exception.getCause()).isSameAs(cause);
			assertThat(exception.retryAfter()).isEqualTo(Duration.ofSeconds(1));
		});
	}

	@Test
	void grantedClaimRunsFromTheTimeItWasSent() {
		ClaimStateMachine admission = begun();
		pass(Duration.ofSeconds(10).minusNanos(1));
		assertThat(admission.answered(granted(admission), this.now))
			.isEqualTo(new NextStep.Run(granted(admission), START));
	}

	@Test
	void claimWhoseFirstBeatIsDueIsRenewedFirst() {
		ClaimStateMachine admission = begun();
		pass(Duration.ofSeconds(10));
		assertThat(admission.answered(granted(admission), this.now)).isEqualTo(NextStep.RENEW);
		long renewedAt = this.now;
		pass(Duration.ofSeconds(1));
		assertThat(admission.renewed(true, this.now)).isEqualTo(new NextStep.Run(granted(admission), renewedAt));
	}

	/** Nobody renews it while it runs, so it has its whole lease. */
	@Test
	void claimWithoutRenewalRunsForAsLongAsItsLeaseLives() {
		this.policy.withoutRenewal();
		ClaimStateMachine admission = begun();
		pass(LEASE.minusNanos(1));
		assertThat(admission.answered(granted(admission), this.now)).isInstanceOf(NextStep.Run.class);
		ClaimStateMachine late = begun();
		pass(LEASE);
		assertThat(late.answered(granted(late), this.now)).isEqualTo(NextStep.RENEW);
	}

	@Test
	void claimThatIsFinalHasNoLease() {
		this.policy = TestPolicy.mode(IdempotencyMode.REJECT);
		ClaimStateMachine admission = begun();
		pass(Duration.ofDays(1));
		assertThat(admission.answered(granted(admission), this.now)).isInstanceOf(NextStep.Run.class);
	}

	@Test
	void storeThatIsSlowerThanItsLeasesGuardsNothing() {
		ClaimStateMachine admission = begun();
		pass(LEASE);
		NextStep move = admission.answered(granted(admission), this.now);
		for (int renewal = 1; renewal <= 3; renewal++) {
			assertThat(move).isEqualTo(NextStep.RENEW);
			pass(LEASE);
			move = admission.renewed(true, this.now);
		}
		assertRejected(move, null, true);
	}

	@Test
	void renewalThatIsRejectedIsAConflictWithTheSuccessor() {
		ClaimStateMachine admission = begun();
		pass(LEASE);
		admission.answered(granted(admission), this.now);
		assertThat(admission.renewed(false, this.now))
			.isEqualTo(new NextStep.Answer(new ClaimResult.InProgress(LEASE)));
	}

	@Test
	void renewalThatFailsRejectsEvenWhereCallsProceed() {
		this.policy.proceeding();
		ClaimStateMachine admission = begun();
		pass(LEASE);
		admission.answered(granted(admission), this.now);
		assertRejected(admission.failed(LOST, false, this.now), LOST, true);
	}

	@Test
	void anyOtherAnswerIsTheAnswer() {
		for (ClaimResult result : List.of(BUSY, new ClaimResult.KeyReused(), new ClaimResult.ResultUnavailable(),
				new ClaimResult.Abandoned(), new ClaimResult.Duplicate(2), new ClaimResult.UnknownToken(),
				new ClaimResult.Completed(new StoredResult("text", new byte[0]), LEASE))) {
			NextStep move = begun().answered(result, this.now);
			assertThat(move).isEqualTo(new NextStep.Answer(result));
			assertThat(move.endsConflict()).isEqualTo(result != BUSY);
		}
	}

	/** The owner may have ended before anybody could wake the duplicate up. */
	@Test
	void duplicateThatWaitsAsksOnceMoreAtOnce() {
		this.policy.waiting(Duration.ofSeconds(10));
		ClaimStateMachine admission = begun();
		pass(Duration.ofSeconds(1));
		assertThat(admission.answered(BUSY, this.now))
			.isEqualTo(new NextStep.Wait(this.now, this.now + Duration.ofSeconds(10).toNanos()));
		assertThat(admission.woken(this.now)).isEqualTo(NextStep.SEND);
		assertThat(admission.sentNanos()).isEqualTo(this.now);
	}

	@Test
	void duplicateWaitsForTheRestOfTheLeaseAndForTheTimeThatItHas() {
		ClaimStateMachine admission = waiting();
		long deadline = this.now + Duration.ofSeconds(10).toNanos();
		assertThat(admission.answered(BUSY, this.now))
			.isEqualTo(new NextStep.Wait(this.now + Duration.ofSeconds(7).toNanos(), deadline));
		pass(Duration.ofSeconds(7));
		admission.woken(this.now);
		assertThat(admission.answered(new ClaimResult.InProgress(Duration.ZERO), this.now))
			.isEqualTo(new NextStep.Wait(this.now + Duration.ofMillis(1).toNanos(), deadline));
		pass(Duration.ofSeconds(3));
		admission.woken(this.now);
		ClaimResult.InProgress last = new ClaimResult.InProgress(Duration.ofSeconds(1));
		assertThat(admission.answered(last, this.now)).isEqualTo(new NextStep.Answer(last));
	}

	@Test
	void duplicateThatCannotWaitGetsTheLastAnswer() {
		assertThat(waiting().notWaiting()).isEqualTo(new NextStep.Answer(BUSY));
		assertThatIllegalStateException().isThrownBy(begun()::notWaiting);
	}

	@Test
	void duplicateWhoseConflictHasEndedRuns() {
		ClaimStateMachine admission = waiting();
		NextStep move = admission.answered(granted(admission), this.now);
		assertThat(move).isEqualTo(new NextStep.Run(granted(admission), this.now));
		assertThat(move.endsConflict()).isTrue();
	}

	/** The first call is known to run. */
	@Test
	void duplicateThatWaitsNeverRunsUnguarded() {
		this.policy.proceeding();
		assertRejected(waiting().notSent(LOST, false), LOST, false);
		assertRejected(waiting().failed(NOT_REACHED, false, this.now), NOT_REACHED, false);
		assertThat(waiting().failed(LOST, false, this.now)).isEqualTo(NextStep.SEND_AGAIN);
	}

	@Test
	void replyThatIsLostSoonIsAskedForOnceMore() {
		ClaimStateMachine admission = begun();
		pass(Duration.ofMillis(500).minusNanos(1));
		assertThat(admission.failed(LOST, false, this.now)).isEqualTo(NextStep.SEND_AGAIN);
		assertThat(admission.sentNanos()).as("the lease counts from the first").isEqualTo(START);
		assertThat(admission.answered(granted(admission), this.now))
			.isEqualTo(new NextStep.Run(granted(admission), START));
	}

	@Test
	void replyThatIsLostLateIsNotAskedForAgain() {
		ClaimStateMachine admission = begun();
		pass(Duration.ofMillis(500));
		assertRejected(admission.failed(LOST, false, this.now), LOST, true);
	}

	@Test
	void interruptedCallIsNotAskedForAgain() {
		this.policy.proceeding();
		assertRejected(begun().failed(LOST, true, this.now), LOST, true);
		assertRejected(begun().notSent(LOST, true), LOST, false);
	}

	@Test
	void secondLossIsToldWithTheFirst() {
		IdempotencyStoreException first = new IdempotencyStoreException("first");
		IdempotencyStoreException second = new IdempotencyStoreException("second");
		ClaimStateMachine admission = begun();
		admission.failed(first, false, this.now);
		assertRejected(admission.failed(second, false, this.now), first, true);
		assertThat(first.getSuppressed()).containsExactly(second);
		ClaimStateMachine same = begun();
		same.failed(LOST, false, this.now);
		assertRejected(same.failed(LOST, false, this.now), LOST, true);
		assertThat(LOST.getSuppressed()).isEmpty();
	}

	/** The first claim may have been applied. */
	@Test
	void storeThatIsNotReachedAfterALossGetsTheClaimBack() {
		IdempotencyStoreException first = new IdempotencyStoreException("first");
		ClaimStateMachine admission = begun();
		admission.failed(first, false, this.now);
		assertRejected(admission.failed(NOT_REACHED, false, this.now), first, true);
	}

	@Test
	void claimThatWasSurelyNotAppliedIsNotGivenBack() {
		assertRejected(begun().failed(NOT_REACHED, false, this.now), NOT_REACHED, false);
		assertRejected(begun().failed(UNREADABLE, false, this.now), UNREADABLE, false);
		assertRejected(begun().notSent(null, false), null, false);
		ClaimStateMachine admission = begun();
		admission.failed(new IdempotencyStoreException("first"), false, this.now);
		assertRejected(admission.failed(UNREADABLE, false, this.now), UNREADABLE, false);
	}

	@Test
	void callThatMayProceedRunsUnguarded() {
		this.policy.proceeding();
		assertThat(begun().notSent(LOST, false)).isEqualTo(new NextStep.Unguarded(false));
		assertThat(begun().failed(NOT_REACHED, false, this.now)).isEqualTo(new NextStep.Unguarded(false));
		ClaimStateMachine admission = begun();
		admission.failed(LOST, false, this.now);
		assertThat(admission.failed(LOST, false, this.now)).isEqualTo(new NextStep.Unguarded(true));
	}

	/** The key is in use. */
	@Test
	void callWhoseRecordCannotBeReadNeverProceeds() {
		this.policy.proceeding();
		assertRejected(begun().failed(UNREADABLE, false, this.now), UNREADABLE, false);
		assertRejected(begun().notSent(UNREADABLE, false), UNREADABLE, false);
	}

	@Test
	void failureAfterAWaitIsTheFirstAgain() {
		ClaimStateMachine admission = waiting();
		admission.failed(LOST, false, this.now);
		admission.answered(BUSY, this.now);
		admission.woken(this.now);
		assertThat(admission.failed(LOST, false, this.now)).isEqualTo(NextStep.SEND_AGAIN);
	}

}
