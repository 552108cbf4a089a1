package io.idempotency.engine;

import java.time.Duration;
import java.util.List;

import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.Admission.Move;
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

/** The table of {@link Admission}, row by row. */
class AdmissionTests {

	/** Clocks of a JVM begin anywhere. */
	private static final long START = Long.MAX_VALUE - 1;

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final ClaimResult.InProgress BUSY = new ClaimResult.InProgress(Duration.ofSeconds(7));

	private static final IdempotencyStoreException LOST = new IdempotencyStoreException("reply lost");

	private static final StoreNotReachedException NOT_REACHED = new StoreNotReachedException("no connection", LOST);

	private static final UnreadableRecordException UNREADABLE = new UnreadableRecordException("not a record", LOST);

	private TestPolicy policy = TestPolicy.replay().lease(LEASE);

	private long now = START;

	private Admission begun() {
		GuardedCall call = new GuardedCall(EngineFixture.KEY, Fingerprint.NONE, this.policy.build(),
				new MemoryIdempotencyStore(64_000));
		Admission admission = new Admission(call, ClaimOrigin.UNKNOWN);
		assertThat(admission.begin(this.now)).isEqualTo(Move.SEND);
		assertThat(admission.sentNanos()).isEqualTo(this.now);
		assertThat(admission.call()).isSameAs(call);
		return admission;
	}

	/** Whose duplicate has asked twice by now. */
	private Admission waiting() {
		this.policy.waiting(Duration.ofSeconds(10));
		Admission admission = begun();
		admission.answered(BUSY, this.now);
		assertThat(admission.woken(this.now)).isEqualTo(Move.SEND);
		return admission;
	}

	private void pass(Duration time) {
		this.now += time.toNanos();
	}

	private static ClaimResult.Acquired granted(Admission admission) {
		return new ClaimResult.Acquired(new Claim(admission.request().key(), admission.request().claimId(), 7, false),
				ClaimOrigin.UNKNOWN);
	}

	private static void assertRefused(Move move, @Nullable Throwable cause, boolean givenBack) {
		assertThat(move).isInstanceOfSatisfying(Move.Refuse.class, (refuse) -> {
			assertThat(refuse.giveBack()).isEqualTo(givenBack);
			IdempotencyStoreUnavailableException exception = refuse.exception();
			assertThat(exception.getCause()).isSameAs(cause);
			assertThat(exception.retryAfter()).isEqualTo(Duration.ofSeconds(1));
		});
	}

	@Test
	void grantedClaimRunsFromTheTimeItWasSent() {
		Admission admission = begun();
		pass(Duration.ofSeconds(10).minusNanos(1));
		assertThat(admission.answered(granted(admission), this.now)).isEqualTo(new Move.Run(granted(admission), START));
	}

	@Test
	void claimWhoseFirstBeatIsDueIsRenewedFirst() {
		Admission admission = begun();
		pass(Duration.ofSeconds(10));
		assertThat(admission.answered(granted(admission), this.now)).isEqualTo(Move.RENEW);
		long renewedAt = this.now;
		pass(Duration.ofSeconds(1));
		assertThat(admission.renewed(true, this.now)).isEqualTo(new Move.Run(granted(admission), renewedAt));
	}

	/** Nobody renews it while it runs, so it has its whole lease. */
	@Test
	void claimWithoutRenewalRunsForAsLongAsItsLeaseLives() {
		this.policy.withoutRenewal();
		Admission admission = begun();
		pass(LEASE.minusNanos(1));
		assertThat(admission.answered(granted(admission), this.now)).isInstanceOf(Move.Run.class);
		Admission late = begun();
		pass(LEASE);
		assertThat(late.answered(granted(late), this.now)).isEqualTo(Move.RENEW);
	}

	@Test
	void claimThatIsFinalHasNoLease() {
		this.policy = TestPolicy.mode(IdempotencyMode.REJECT);
		Admission admission = begun();
		pass(Duration.ofDays(1));
		assertThat(admission.answered(granted(admission), this.now)).isInstanceOf(Move.Run.class);
	}

	@Test
	void storeThatIsSlowerThanItsLeasesGuardsNothing() {
		Admission admission = begun();
		pass(LEASE);
		Move move = admission.answered(granted(admission), this.now);
		for (int renewal = 1; renewal <= 3; renewal++) {
			assertThat(move).isEqualTo(Move.RENEW);
			pass(LEASE);
			move = admission.renewed(true, this.now);
		}
		assertRefused(move, null, true);
	}

	@Test
	void renewalThatIsRefusedIsAConflictWithTheSuccessor() {
		Admission admission = begun();
		pass(LEASE);
		admission.answered(granted(admission), this.now);
		assertThat(admission.renewed(false, this.now)).isEqualTo(new Move.Answer(new ClaimResult.InProgress(LEASE)));
	}

	@Test
	void renewalThatFailsRefusesEvenWhereCallsProceed() {
		this.policy.proceeding();
		Admission admission = begun();
		pass(LEASE);
		admission.answered(granted(admission), this.now);
		assertRefused(admission.failed(LOST, false, this.now), LOST, true);
	}

	@Test
	void anyOtherAnswerIsTheAnswer() {
		for (ClaimResult result : List.of(BUSY, new ClaimResult.KeyReused(), new ClaimResult.ResultUnavailable(),
				new ClaimResult.Abandoned(), new ClaimResult.Duplicate(2), new ClaimResult.UnknownToken(),
				new ClaimResult.Completed(new StoredResult("text", new byte[0]), LEASE))) {
			Move move = begun().answered(result, this.now);
			assertThat(move).isEqualTo(new Move.Answer(result));
			assertThat(move.endsConflict()).isEqualTo(result != BUSY);
		}
	}

	/** The owner may have ended before anybody could wake the duplicate up. */
	@Test
	void duplicateThatWaitsAsksOnceMoreAtOnce() {
		this.policy.waiting(Duration.ofSeconds(10));
		Admission admission = begun();
		pass(Duration.ofSeconds(1));
		assertThat(admission.answered(BUSY, this.now))
			.isEqualTo(new Move.Wait(this.now, this.now + Duration.ofSeconds(10).toNanos()));
		assertThat(admission.woken(this.now)).isEqualTo(Move.SEND);
		assertThat(admission.sentNanos()).isEqualTo(this.now);
	}

	@Test
	void duplicateWaitsForTheRestOfTheLeaseAndForTheTimeThatItHas() {
		Admission admission = waiting();
		long deadline = this.now + Duration.ofSeconds(10).toNanos();
		assertThat(admission.answered(BUSY, this.now))
			.isEqualTo(new Move.Wait(this.now + Duration.ofSeconds(7).toNanos(), deadline));
		pass(Duration.ofSeconds(7));
		admission.woken(this.now);
		assertThat(admission.answered(new ClaimResult.InProgress(Duration.ZERO), this.now))
			.isEqualTo(new Move.Wait(this.now + Duration.ofMillis(1).toNanos(), deadline));
		pass(Duration.ofSeconds(3));
		admission.woken(this.now);
		ClaimResult.InProgress last = new ClaimResult.InProgress(Duration.ofSeconds(1));
		assertThat(admission.answered(last, this.now)).isEqualTo(new Move.Answer(last));
	}

	@Test
	void duplicateThatCannotWaitGetsTheLastAnswer() {
		assertThat(waiting().notWaiting()).isEqualTo(new Move.Answer(BUSY));
		assertThatIllegalStateException().isThrownBy(begun()::notWaiting);
	}

	@Test
	void duplicateWhoseConflictHasEndedRuns() {
		Admission admission = waiting();
		Move move = admission.answered(granted(admission), this.now);
		assertThat(move).isEqualTo(new Move.Run(granted(admission), this.now));
		assertThat(move.endsConflict()).isTrue();
	}

	/** The first call is known to run. */
	@Test
	void duplicateThatWaitsNeverRunsUnguarded() {
		this.policy.proceeding();
		assertRefused(waiting().notSent(LOST, false), LOST, false);
		assertRefused(waiting().failed(NOT_REACHED, false, this.now), NOT_REACHED, false);
		assertThat(waiting().failed(LOST, false, this.now)).isEqualTo(Move.SEND_AGAIN);
	}

	@Test
	void replyThatIsLostSoonIsAskedForOnceMore() {
		Admission admission = begun();
		pass(Duration.ofMillis(500).minusNanos(1));
		assertThat(admission.failed(LOST, false, this.now)).isEqualTo(Move.SEND_AGAIN);
		assertThat(admission.sentNanos()).as("the lease counts from the first").isEqualTo(START);
		assertThat(admission.answered(granted(admission), this.now)).isEqualTo(new Move.Run(granted(admission), START));
	}

	@Test
	void replyThatIsLostLateIsNotAskedForAgain() {
		Admission admission = begun();
		pass(Duration.ofMillis(500));
		assertRefused(admission.failed(LOST, false, this.now), LOST, true);
	}

	@Test
	void interruptedCallIsNotAskedForAgain() {
		this.policy.proceeding();
		assertRefused(begun().failed(LOST, true, this.now), LOST, true);
		assertRefused(begun().notSent(LOST, true), LOST, false);
	}

	@Test
	void secondLossIsToldWithTheFirst() {
		IdempotencyStoreException first = new IdempotencyStoreException("first");
		IdempotencyStoreException second = new IdempotencyStoreException("second");
		Admission admission = begun();
		admission.failed(first, false, this.now);
		assertRefused(admission.failed(second, false, this.now), first, true);
		assertThat(first.getSuppressed()).containsExactly(second);
		Admission same = begun();
		same.failed(LOST, false, this.now);
		assertRefused(same.failed(LOST, false, this.now), LOST, true);
		assertThat(LOST.getSuppressed()).isEmpty();
	}

	/** The first claim may have been applied. */
	@Test
	void storeThatIsNotReachedAfterALossGetsTheClaimBack() {
		IdempotencyStoreException first = new IdempotencyStoreException("first");
		Admission admission = begun();
		admission.failed(first, false, this.now);
		assertRefused(admission.failed(NOT_REACHED, false, this.now), first, true);
	}

	@Test
	void claimThatWasSurelyNotAppliedIsNotGivenBack() {
		assertRefused(begun().failed(NOT_REACHED, false, this.now), NOT_REACHED, false);
		assertRefused(begun().failed(UNREADABLE, false, this.now), UNREADABLE, false);
		assertRefused(begun().notSent(null, false), null, false);
		Admission admission = begun();
		admission.failed(new IdempotencyStoreException("first"), false, this.now);
		assertRefused(admission.failed(UNREADABLE, false, this.now), UNREADABLE, false);
	}

	@Test
	void callThatMayProceedRunsUnguarded() {
		this.policy.proceeding();
		assertThat(begun().notSent(LOST, false)).isEqualTo(new Move.Unguarded(false));
		assertThat(begun().failed(NOT_REACHED, false, this.now)).isEqualTo(new Move.Unguarded(false));
		Admission admission = begun();
		admission.failed(LOST, false, this.now);
		assertThat(admission.failed(LOST, false, this.now)).isEqualTo(new Move.Unguarded(true));
	}

	/** The key is in use. */
	@Test
	void callWhoseRecordCannotBeReadNeverProceeds() {
		this.policy.proceeding();
		assertRefused(begun().failed(UNREADABLE, false, this.now), UNREADABLE, false);
		assertRefused(begun().notSent(UNREADABLE, false), UNREADABLE, false);
	}

	@Test
	void failureAfterAWaitIsTheFirstAgain() {
		Admission admission = waiting();
		admission.failed(LOST, false, this.now);
		admission.answered(BUSY, this.now);
		admission.woken(this.now);
		assertThat(admission.failed(LOST, false, this.now)).isEqualTo(Move.SEND_AGAIN);
	}

}
