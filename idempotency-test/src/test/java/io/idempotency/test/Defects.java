package io.idempotency.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecord.State;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Abandoned;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.ClaimResult.Completed;
import io.idempotency.store.ClaimResult.Duplicate;
import io.idempotency.store.ClaimResult.InProgress;
import io.idempotency.store.ClaimResult.KeyReused;
import io.idempotency.store.ClaimResult.ResultUnavailable;
import io.idempotency.store.ClaimResult.UnknownToken;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.Completion.Type;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.RecordAdmin.Eviction;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.Renewal;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import io.idempotency.test.Defect.Operators;
import org.jspecify.annotations.Nullable;

import static io.idempotency.test.Defect.acquired;
import static io.idempotency.test.Defect.answer;
import static io.idempotency.test.Defect.claim;
import static io.idempotency.test.Defect.complete;
import static io.idempotency.test.Defect.find;
import static io.idempotency.test.Defect.issue;
import static io.idempotency.test.Defect.keys;
import static io.idempotency.test.Defect.of;
import static io.idempotency.test.Defect.operators;
import static io.idempotency.test.Defect.release;
import static io.idempotency.test.Defect.renew;
import static io.idempotency.test.Defect.renewAll;
import static io.idempotency.test.Defect.shown;

/**
 * Everything that a store may do wrong: for each rule of the contract at least one
 * defect, as small as the rule.
 */
final class Defects {

	private static final Duration LONG = Call.LONG;

	private static final int MANY = 100;

	private Defects() {
	}

	static List<Defect> all() {
		return Stream
			.of(absent(), running(), renewals(), leaseOver(), nobodys(), executed(), done(), once(), tokens(), values(),
					races(), administration(), finds(), model())
			.flatMap(List::stream)
			.toList();
	}

	private static List<Defect> absent() {
		return List.of(
				answer("gives the claim an id of its own", Acquired.class,
						(s, r, answer) -> new Acquired(new Claim(r.key(), ClaimId.random(),
								answer.claim().fencingToken(), answer.claim().abandoned())),
						"freshClaimIsAcquired"),
				claim("takes every claim that may not take over for late",
						(s, r) -> !r.takeOver() && s.isAbsent(r.key()), (s, r) -> new Abandoned(),
						"freshClaimThatMayNotTakeOverIsAcquired"),
				acquired("forgets the fencing token with the record",
						(before, now) -> now.abandoned() ? now : withFence(now, before.fencingToken()),
						"fenceGrowsWithEveryClaimOfAReleasedKey", "ownerReleasesOnce",
						"releaseGivesTheTokenBackWithoutAFingerprint"),
				complete("drops a late result", (s, c) -> isLate(s, c, Type.RESULT), (s, c) -> true,
						"lateCompletionInsideTheRetentionIsKept"),
				complete("drops a late tombstone", (s, c) -> isLate(s, c, Type.WITHOUT_RESULT), (s, c) -> true,
						"lateTombstoneInsideTheRetentionIsKept"),
				complete("makes a late COMMITTED a tombstone", (s, c) -> isLate(s, c, Type.COMMITTED),
						(s, c) -> s.complete(tombstone(c)), "lateExecutedInsideTheRetentionIsKept"),
				complete("keeps a late result without its fingerprint", (s, c) -> isLate(s, c, Type.RESULT),
						(s, c) -> s.complete(KnownStore.with(c, c.claim(), Fingerprint.NONE)),
						"lateCompletionKeepsTheFingerprint"),
				complete("rejects a late completion that is sent once more", (s, c) -> s.isLate(key(c)),
						(s, c) -> false, "lateCompletionMayBeRepeated"),
				complete("keeps a completion however late it comes", (s, c) -> s.isAbsent(key(c)),
						KnownStore::completeNow, "lateCompletionOutsideTheRetentionIsRejected",
						"completionSentOnceMoreAfterTheRetentionIsRejected"),
				complete("rejects a completion after a release", (s, c) -> s.isAbsent(key(c)) && s.isReleased(key(c)),
						(s, c) -> false, "completionAfterAReleaseIsKept"),
				complete("rejects a late completion with zero retention",
						(s, c) -> s.isAbsent(key(c)) && isForgetting(c), (s, c) -> false,
						"completionWithZeroRetentionIsAcceptedAndLeavesNothing"),
				complete("keeps a result with zero retention", (s, c) -> c.type() == Type.RESULT && isForgetting(c),
						(s, c) -> s.complete(kept(c, LONG)), "resultWithZeroRetentionLeavesNothing"),
				release("rejects a release that finds nothing", (s, k, id) -> s.isAbsent(k), (s, k, id) -> false,
						"releaseIsAcceptedAndChangesNothing"),
				renew("accepts a renewal that finds nothing", (s, k, id) -> s.isAbsent(k) && !s.wasClaimed(k),
						(s, k, id, lease) -> true, "renewIsRejectedAndChangesNothing"));
	}

	private static List<Defect> running() {
		return List.of(
				claim("does not know its own claim again", (s, r) -> s.isRunning(r.key()) && isOwner(s, r),
						(s, r) -> new InProgress(LONG), "claimSentOnceMoreFindsItself"),
				claim("lets a duplicate run", (s, r) -> s.isRunning(r.key()), KnownStore::claimAnew,
						"duplicateIsInProgress"),
				answer("tells the whole lease for the rest of it", InProgress.class,
						(s, r, answer) -> new InProgress(s.request(r.key()).lease()),
						"restOfAConflictIsWhatIsLeftOfTheLease"),
				claim("compares no fingerprint while a call runs", (s, r) -> s.isRunning(r.key()) && !isOwner(s, r),
						Defects::claimWhatever, "keyReusedIsJudgedBeforeConflict"),
				claim("takes no fingerprint for another one",
						(s, r) -> s.isRunning(r.key())
								&& r.fingerprint().isNone() != s.request(r.key()).fingerprint().isNone(),
						(s, r) -> new KeyReused(), "noFingerprintMatchesEveryFingerprint"),
				complete("drops the result", (s, c) -> s.isRunning(key(c)) && c.type() == Type.RESULT,
						(s, c) -> s.complete(tombstone(c)), "ownerCompletesWithAResult"),
				complete("takes the fingerprint of the completion", (s, c) -> s.isRunning(key(c)) && isOwner(s, c),
						KnownStore::replace, "completionKeepsTheFingerprintOfItsClaim"),
				complete("makes a tombstone an empty result",
						(s, c) -> s.isRunning(key(c)) && c.type() == Type.WITHOUT_RESULT && !isForgetting(c),
						(s, c) -> s
							.complete(Completion.result(c.claim(), c.fingerprint(), Call.result(""), c.retention())),
						"ownerCompletesWithCompletionWithoutResult"),
				complete("keeps a tombstone with zero retention", (s, c) -> s.isRunning(key(c)) && isForgetting(c),
						(s, c) -> s.complete(kept(c, LONG)), "completionWithZeroRetentionRemovesTheRecord"),
				complete("lets anybody complete", (s, c) -> s.isRunning(key(c)), KnownStore::completeAsOwner,
						"completionByAnotherIsRejected", "releaseSentOnceMoreDoesNotTouchTheSuccessor"),
				claim("keeps the fingerprint of a released claim",
						(s, r) -> s.isAbsent(r.key()) && s.isReleased(r.key())
								&& !s.request(r.key()).fingerprint().matches(r.fingerprint()),
						(s, r) -> new KeyReused(), "releasedKeyMayRunAgain"),
				release("releases the next claim when a release is sent once more",
						(s, k, id) -> s.isRunning(k) && s.hasReleased(id), KnownStore::releaseAsOwner,
						"releaseSentOnceMoreDoesNotTouchTheSuccessor",
						"releaseOfATakeOverSentOnceMoreDoesNotTouchTheNextOne",
						"releaseOfATokenSentOnceMoreDoesNotTouchTheSuccessor"),
				release("lets anybody release", (s, k, id) -> s.isRunning(k), KnownStore::releaseAsOwner,
						"releaseByAnotherIsRejected"),
				renew("keeps the lease as it is", (s, k, id) -> s.isRunning(k) && s.isOwner(k, id),
						(s, k, id, lease) -> true, "renewalMakesTheLeaseLonger"),
				renew("lets anybody renew", (s, k, id) -> s.isRunning(k), KnownStore::renewAsOwner,
						"renewalByAnotherIsRejected"),
				claim("ends a lease with the retention", (s, r) -> r.lease().compareTo(r.retention()) > 0,
						(s, r) -> s.claim(r.withLease(r.retention())), "recordLivesAsLongAsTheLease"),
				renew("renews no longer than the retention",
						(s, k, id) -> s.isRunning(k) && s.request(k).lease().compareTo(s.request(k).retention()) > 0,
						(s, k, id, lease) -> true, "recordLivesAsLongAsTheRenewedLease"));
	}

	private static List<Defect> renewals() {
		return List.of(
				renewAll("renews all claims for the lease of the first",
						(s, renewals) -> s.renewAll(renewals.stream()
							.map((each) -> new Renewal(each.key(), each.claimId(), Duration.ofMillis(1)))
							.toList()),
						"renewalOfManyMakesEachLeaseLonger"),
				renewAll("does not say which renewals it has rejected", (s, renewals) -> {
					s.renewAll(renewals);
					return Set.of();
				}, "renewalOfManyNamesThoseThatAreRejected"),
				renewAll("renews for whoever has the claim by then",
						(s, renewals) -> s.renewAll(renewals.stream()
							.map((each) -> s.isRunning(each.key())
									? new Renewal(each.key(), s.claim(each.key()).id(), each.lease()) : each)
							.toList()),
						"renewalOfManyRenewsWhatWasTakenOver"),
				renewAll("rejects a claim that it was not asked for",
						(s, renewals) -> renewals.isEmpty() ? Set.of(ClaimId.random()) : s.renewAll(renewals),
						"renewalOfNoneRejectsNone"),
				renewAll("renews only the first hundred",
						(s, renewals) -> s.renewAll(renewals.stream().limit(MANY).toList()),
						"fiveHundredClaimsAreRenewedAtOnce"));
	}

	private static List<Defect> leaseOver() {
		return List.of(
				acquired("does not say that a claim was taken over",
						(before, now) -> new Claim(now.key(), now.id(), now.fencingToken(), false),
						"abandonedClaimIsTakenOverWithALargerFence", "releasedTakeOverStaysAbandoned",
						"abandonedTokenStaysAbandoned"),
				acquired("gives a take-over the fencing token of the dead owner",
						(before, now) -> now.abandoned() ? withFence(now, before.fencingToken()) : now,
						"abandonedClaimIsTakenOverWithALargerFence"),
				acquired("gives the second take-over the fencing token of the first",
						(before, now) -> before.abandoned() ? withFence(now, before.fencingToken()) : now,
						"fenceGrowsWithEveryTakeOver"),
				claim("does not know what was taken over when the claim is sent once more",
						(s, r) -> s.isRunning(r.key()) && isOwner(s, r),
						(s, r) -> new Acquired(new Claim(r.key(), r.claimId(), s.claim(r.key()).fencingToken(), false)),
						"takeOverSentOnceMoreFindsItself"),
				answer("does not say where the claim before came from", Acquired.class,
						(s, r, answer) -> new Acquired(answer.claim()), "takeOverTellsWhereTheClaimBeforeCameFrom"),
				claim("takes over although the claim may not", (s, r) -> s.isLeaseOver(r.key()),
						(s, r) -> s.claim(r.withTakeOver(true)), "claimThatMayNotTakeOverChangesNothing"),
				claim("takes over and says that it did not", (s, r) -> !r.takeOver() && s.isLeaseOver(r.key()),
						(s, r) -> {
							s.claim(r.withTakeOver(true));
							return new Abandoned();
						}, "claimThatMayNotTakeOverChangesNothing"),
				claim("lets another request take over", (s, r) -> s.isLeaseOver(r.key()), Defects::claimWhatever,
						"keyReusedIsJudgedBeforeTakeOver"),
				claim("gives an owner that claims after its lease another fencing token",
						(s, r) -> s.isLeaseOver(r.key()) && isOwner(s, r), KnownStore::claimAnew,
						"ownerThatClaimsOnceMoreKeepsItsFenceAndGetsANewLease"),
				claim("gives an owner that claims after its lease no new one",
						(s, r) -> s.isLeaseOver(r.key()) && isOwner(s, r), (s, r) -> new Acquired(s.claim(r.key())),
						"ownerThatClaimsOnceMoreKeepsItsFenceAndGetsANewLease"),
				complete("rejects a completion after the lease", (s, c) -> s.isLeaseOver(key(c)), (s, c) -> false,
						"ownerCompletesAfterItsLease"),
				complete("lets anybody complete after the lease", (s, c) -> s.isLeaseOver(key(c)),
						KnownStore::completeAsOwner, "completionByAnotherAfterTheLeaseIsRejected"),
				release("rejects a release after the lease", (s, k, id) -> s.isLeaseOver(k), (s, k, id) -> false,
						"ownerReleasesAfterItsLease"),
				release("lets anybody release after the lease", (s, k, id) -> s.isLeaseOver(k),
						KnownStore::releaseAsOwner, "releaseByAnotherAfterTheLeaseIsRejected"),
				renew("rejects a renewal after the lease", (s, k, id) -> s.isLeaseOver(k), (s, k, id, lease) -> false,
						"ownerRenewsAfterItsLease"),
				renew("lets anybody renew after the lease", (s, k, id) -> s.isLeaseOver(k), KnownStore::renewAsOwner,
						"renewalByAnotherAfterTheLeaseIsRejected"),
				claim("keeps a claim beyond its retention", (s, r) -> r.type() == ClaimType.LEASED,
						(s, r) -> s.claim(r.withRetention(r.retention().multipliedBy(MANY))),
						"abandonedRecordIsAbsentAfterTheRetention"),
				renew("brings an expired claim back", (s, k, id) -> s.isAbsent(k) && s.isOwner(k, id),
						(s, k, id, lease) -> s.claimAnew(s.request(k)) instanceof Acquired,
						"ownerRenewsAfterLeaseAndRetentionInVain"),
				claim("counts the retention of a take-over from the first claim", (s, r) -> s.isLeaseOver(r.key()),
						(s, r) -> s.claim(r.withRetention(s.record(r.key()).retentionRest())),
						"retentionOfATakeOverCountsFromTheTakeOver"),
				complete("lets a late owner complete its successor's claim",
						(s, c) -> s.isRunning(key(c)) && isLateOwner(s, key(c), c.claim().id()),
						KnownStore::completeAsOwner, "lateOwnerCannotCompleteItsSuccessorsClaim"),
				release("lets a late owner release its successor's claim",
						(s, k, id) -> s.isRunning(k) && isLateOwner(s, k, id), KnownStore::releaseAsOwner,
						"lateOwnerCannotReleaseItsSuccessorsClaim"),
				renew("lets a late owner renew its successor's claim",
						(s, k, id) -> s.isRunning(k) && isLateOwner(s, k, id), KnownStore::renewAsOwner,
						"lateOwnerCannotRenewItsSuccessorsClaim"),
				complete("lets a late owner replace its successor's result",
						(s, c) -> s.is(State.DONE, key(c)) && isLateOwner(s, key(c), c.claim().id()),
						KnownStore::replace, "lateOwnerCannotTouchItsSuccessorsResult"));
	}

	private static List<Defect> nobodys() {
		return List.of(
				release("forgets a take-over with its release", (s, k, id) -> isTakeOver(s, k, id),
						(s, k, id) -> s.remove(k), "releasedTakeOverStaysAbandoned"),
				release("forgets the second take-over with its release",
						(s, k, id) -> isTakeOver(s, k, id) && s.count(k) > 1, (s, k, id) -> s.remove(k),
						"takeOverStaysAbandonedHoweverOftenItIsReleased"),
				release("forgets a take-over with the second release of it",
						(s, k, id) -> s.isNobodys(k) && s.hasReleased(id), (s, k, id) -> s.remove(k),
						"releaseOfATakeOverSentOnceMoreChangesNothing"),
				release("forgets a take-over with a release of the first owner",
						(s, k, id) -> s.isNobodys(k) && isLateOwner(s, k, id), (s, k, id) -> s.remove(k),
						"lateFirstOwnerCannotReleaseTheMemory"),
				complete("rejects the late first owner its result",
						(s, c) -> s.isNobodys(key(c)) && c.type() == Type.RESULT, (s, c) -> false,
						"lateFirstOwnerMayStillComplete"),
				complete("drops the late first owner's tombstone",
						(s, c) -> s.isNobodys(key(c)) && c.type() == Type.WITHOUT_RESULT && !isForgetting(c),
						(s, c) -> true, "lateFirstOwnersTombstoneIsKept"),
				complete("keeps what the late first owner wants to forget",
						(s, c) -> s.isNobodys(key(c)) && isForgetting(c), (s, c) -> true,
						"lateOwnerThatForgetsLeavesNothing"),
				complete("lets the owner of another request complete",
						(s, c) -> s.isNobodys(key(c)) && !c.fingerprint().isNone(), Defects::completeSameRequest,
						"lateOwnerOfAnotherRequestCannotComplete"),
				complete("lets an owner complete that compares nothing",
						(s, c) -> s.isNobodys(key(c)) && c.fingerprint().isNone(), Defects::completeSameRequest,
						"lateOwnerThatComparesNothingCannotCompleteAnotherRequest"),
				complete("lets every owner complete what compares nothing",
						(s, c) -> s.isNobodys(key(c)) && s.request(key(c)).fingerprint().isNone(),
						Defects::completeSameRequest, "lateOwnerCannotCompleteWhatComparesNothing"),
				complete("lets the owner of another request complete a token",
						(s, c) -> s.isNobodys(key(c)) && key(c).isToken(), Defects::completeSameRequest,
						"lateOwnerOfAnotherRequestCannotCompleteNobodysToken"),
				complete("rejects a late owner where nothing is compared",
						(s, c) -> s.isNobodys(key(c)) && c.fingerprint().isNone(), (s, c) -> false,
						"lateOwnerCompletesWhereNothingIsCompared"),
				renew("lets the late first owner renew", (s, k, id) -> s.isNobodys(k), (s, k, id, lease) -> true,
						"lateFirstOwnerCannotRenew"),
				claim("lets another request take over what is nobody's", (s, r) -> s.isNobodys(r.key()),
						Defects::claimWhatever, "keyReusedIsJudgedBeforeNobodysTakeOver"),
				claim("keeps a take-over beyond its retention", (s, r) -> s.isLeaseOver(r.key()),
						(s, r) -> s.claim(r.withRetention(r.retention().multipliedBy(MANY))),
						"nobodysRecordIsAbsentAfterTheRetention"));
	}

	private static List<Defect> executed() {
		return List.of(
				claim("does not wait for the result", (s, r) -> s.is(State.COMMITTED, r.key()),
						(s, r) -> new ResultUnavailable(), "executedIsInProgressWhileItsResultIsAwaited"),
				complete("waits for the result as long as it would keep it", (s, c) -> c.type() == Type.COMMITTED,
						(s, c) -> s.complete(KnownStore.with(c, c.retention(), c.retention())),
						"executedIsATombstoneWhenItsResultDoesNotCome"),
				claim("compares no fingerprint while the result is awaited", (s, r) -> s.is(State.COMMITTED, r.key()),
						Defects::claimWhatever, "keyReusedIsJudgedFirstOfExecuted"),
				complete("rejects the result of what is executed",
						(s, c) -> s.is(State.COMMITTED, key(c)) && c.type() == Type.RESULT, (s, c) -> false,
						"ownerAttachesItsResult"),
				complete("rejects a result that comes after the wait for it", Defects::isUnattached, (s, c) -> false,
						"ownerAttachesItsResultToWhatIsATombstoneByThen"),
				complete("waits on when the owner says that no result comes",
						(s, c) -> s.is(State.COMMITTED, key(c)) && c.type() == Type.WITHOUT_RESULT && !isForgetting(c),
						(s, c) -> true, "ownerEndsExecutedWithCompletionWithoutResult"),
				complete("keeps what is executed and to be forgotten",
						(s, c) -> s.is(State.COMMITTED, key(c)) && isForgetting(c), (s, c) -> true,
						"ownerEndsExecutedWithZeroRetention"),
				complete("rejects COMMITTED that is sent once more",
						(s, c) -> s.is(State.COMMITTED, key(c)) && c.type() == Type.COMMITTED, (s, c) -> false,
						"executedMayBeSentOnceMore"),
				complete("washes a result away with COMMITTED",
						(s, c) -> s.is(State.DONE, key(c)) && c.type() == Type.COMMITTED, KnownStore::replace,
						"executedDoesNotWashAResultAway"),
				complete("lets anybody attach a result", (s, c) -> s.is(State.COMMITTED, key(c)),
						KnownStore::completeAsOwner, "completionOfExecutedByAnotherIsRejected"),
				complete("lets anybody attach a result after the wait for it", Defects::isUnattached,
						KnownStore::completeAsOwner, "completionOfExecutedByAnotherIsRejected"),
				release("releases what is executed", (s, k, id) -> s.is(State.COMMITTED, k), (s, k, id) -> s.remove(k),
						"executedIsNeitherReleasedNorRenewed"),
				renew("renews what is executed", (s, k, id) -> s.is(State.COMMITTED, k), (s, k, id, lease) -> true,
						"executedIsNeitherReleasedNorRenewed"),
				complete("keeps what is executed beyond its retention", (s, c) -> c.type() == Type.COMMITTED,
						(s, c) -> s.complete(kept(c, c.retention().multipliedBy(MANY))),
						"executedIsAbsentAfterTheRetention"),
				complete("keeps what is executed as long as it waits for the result",
						(s, c) -> c.type() == Type.COMMITTED && c.retention().compareTo(c.attachWithin()) < 0,
						(s, c) -> s.complete(kept(c, c.attachWithin())),
						"executedIsAbsentAfterARetentionThatIsShorterThanTheWaitForItsResult"),
				complete("lets anybody say that the work is done",
						(s, c) -> s.isRunning(key(c)) && c.type() == Type.COMMITTED, KnownStore::completeAsOwner,
						"executedByAnotherIsRejected"));
	}

	private static List<Defect> done() {
		return List.of(
				claim("replays once", (s, r) -> s.is(State.DONE, r.key()) && s.count(r.key()) > 1,
						(s, r) -> new ResultUnavailable(), "everyDuplicateGetsTheResult"),
				complete("forgets a rejected call", (s, c) -> c.kind() == ResultKind.REJECTION,
						(s, c) -> s.remove(key(c)), "resultsOfAllKindsAreKeptAlike"),
				claim("lets the owner run again", (s, r) -> s.is(State.DONE, r.key()) && isOwner(s, r),
						(s, r) -> new Acquired(s.claim(r.key())), "claimSentOnceMoreAfterCompletionGetsTheResult"),
				claim("compares no fingerprint of what is done", (s, r) -> s.is(State.DONE, r.key()),
						Defects::claimWhatever, "keyReusedIsJudgedBeforeReplay"),
				claim("compares no fingerprint of a tombstone", (s, r) -> s.is(State.RESULT_NOT_STORED, r.key()),
						Defects::claimWhatever, "keyReusedIsJudgedBeforeResultUnavailable"),
				complete("replaces the result when a completion is sent once more",
						(s, c) -> s.is(State.DONE, key(c)) && isOwner(s, c), KnownStore::replace,
						"completionSentOnceMoreChangesNothing"),
				complete("lets anybody replace the result", (s, c) -> s.is(State.DONE, key(c)) && !isOwner(s, c),
						KnownStore::replace, "completionByAnotherCannotReplaceTheResult"),
				release("releases what is done", (s, k, id) -> s.is(State.DONE, k), (s, k, id) -> s.remove(k),
						"nothingReleasesWhatIsDone"),
				renew("keeps what is done for a lease", (s, k, id) -> s.is(State.DONE, k),
						(s, k, id, lease) -> s.replace(kept(s.completion(k), lease)), "nothingRenewsWhatIsDone"),
				complete("gives a tombstone a result",
						(s, c) -> s.is(State.RESULT_NOT_STORED, key(c)) && !isUnattached(s, c)
								&& c.type() == Type.RESULT,
						KnownStore::replace, "nothingTouchesCompletionWithoutResult"),
				complete("keeps a result beyond its retention",
						(s, c) -> c.type() == Type.RESULT && s.isRunning(key(c)),
						(s, c) -> s.complete(kept(c, c.retention().multipliedBy(MANY))),
						"resultIsGoneAfterTheRetention"),
				complete("keeps a tombstone beyond its retention", (s, c) -> c.type() == Type.WITHOUT_RESULT,
						(s, c) -> s.complete(kept(c, c.retention().multipliedBy(MANY))),
						"tombstoneIsGoneAfterTheRetention"),
				complete("counts the retention of a result from the claim", (s, c) -> s.isRunning(key(c)),
						(s, c) -> s.complete(kept(c, positive(c.retention().minus(s.sinceClaim(key(c)))))),
						"retentionCountsFromTheCompletion"),
				complete("keeps a result for the retention of the claim",
						(s, c) -> s.isRunning(key(c)) && c.type() == Type.RESULT && !isForgetting(c),
						(s, c) -> s.complete(kept(c, s.request(key(c)).retention())),
						"retentionOfTheCompletionReplacesThatOfTheClaim"),
				answer("tells the whole retention for the rest of it", Completed.class,
						(s, r, answer) -> new Completed(answer.result(), s.completion(r.key()).retention(),
								answer.origin()),
						"restOfAReplayIsWhatIsLeftOfTheRetention"),
				answer("keeps a result longer with each replay", Completed.class, (s, r, answer) -> {
					s.replace(s.completion(r.key()));
					return answer;
				}, "replayDoesNotMakeTheRetentionLonger"));
	}

	private static List<Defect> once() {
		return List.of(
				answer("counts to two", Duplicate.class, (s, r, answer) -> new Duplicate(2),
						"onceIsAcquiredThenDuplicatesAreCounted"),
				claim("counts a claim that is sent once more", (s, r) -> s.is(State.ONCE, r.key()) && isOwner(s, r),
						(s, r) -> {
							s.claim(r.withClaimId(ClaimId.random()));
							return s.claim(r);
						}, "onceSentOnceMoreFindsItselfAndIsNotCounted"),
				claim("compares the fingerprints of ONCE",
						(s, r) -> s.is(State.ONCE, r.key())
								&& !s.request(r.key()).fingerprint().matches(r.fingerprint()),
						(s, r) -> new KeyReused(), "onceComparesNoFingerprint"),
				complete("completes ONCE", (s, c) -> s.is(State.ONCE, key(c)), KnownStore::replace,
						"onceIsNeverCompleted"),
				renew("renews ONCE", (s, k, id) -> s.is(State.ONCE, k), (s, k, id, lease) -> true,
						"onceIsNeverRenewed"),
				release("never releases ONCE", (s, k, id) -> s.is(State.ONCE, k), (s, k, id) -> false,
						"ownerReleasesOnce"),
				release("lets anybody release ONCE", (s, k, id) -> s.is(State.ONCE, k) && !k.isToken(),
						KnownStore::releaseAsOwner, "onceIsNotReleasedByAnother"),
				claim("keeps ONCE for a lease", (s, r) -> r.type() == ClaimType.ONCE,
						(s, r) -> s.claim(r.withRetention(r.lease())), "leaseHasNoMeaningForOnce"),
				answer("keeps ONCE longer with each duplicate", Duplicate.class, (s, r, answer) -> {
					if (s.is(State.ONCE, r.key())) {
						s.claimAnew(s.request(r.key()));
					}
					return answer;
				}, "retentionOfOnceCountsFromTheFirstClaim"),
				answer("counts to ten", Duplicate.class,
						(s, r, answer) -> new Duplicate(Math.min(answer.attempts(), 10)),
						"attemptsAreCountedExactlyInAStorm"),
				answer("counts claims ONCE of a record of another type", Duplicate.class,
						(s, r, answer) -> s.is(State.ONCE, r.key()) ? answer : new Duplicate(1 + s.count(r.key())),
						"onceThatMeetsALeasedRecordIsADuplicateOfTwoAttempts"),
				claim("takes over with ONCE", (s, r) -> s.isLeaseOver(r.key()),
						(s, r) -> s.claim(r.withType(ClaimType.LEASED)), "onceDoesNotTakeOver"),
				claim("counts a claim of another type", (s, r) -> s.is(State.ONCE, r.key()),
						(s, r) -> s.claim(r.withType(ClaimType.ONCE)), "leasedThatMeetsOnceIsCompletionWithoutResult"));
	}

	private static List<Defect> tokens() {
		return List.of(
				claim("takes a token that it has never issued", (s, r) -> !s.wasClaimed(r.key()),
						KnownStore::claimToken, "tokenThatWasNeverIssuedIsUnknown"),
				claim("lets a token be used twice", (s, r) -> r.key().isToken() && s.isRunning(r.key()),
						KnownStore::claimAnew, "issuedTokenIsConsumedByTheFirstClaim"),
				keys("gives a token to every caller",
						(key) -> key.isToken() ? IdempotencyKey.ofToken(Caller.GLOBAL, key.value()) : key,
						"tokenOfAnotherCallerIsUnknown"),
				keys("takes the text of a token for the token",
						(key) -> key.operation().equals("token") ? IdempotencyKey.ofToken(key.caller(), key.value())
								: key,
						"keyThatLooksLikeATokenIsNone"),
				issue("keeps a token beyond its time to live",
						(s, token, timeToLive) -> s.issue(token, timeToLive.multipliedBy(MANY)), "tokenExpires"),
				issue("tells one hour for all tokens", (s, token, timeToLive) -> {
					s.issue(token, timeToLive);
					return Instant.EPOCH;
				}, "expiryIsReportedByTheStoresClock"), issue("issues a token anew", (s, token, timeToLive) -> {
					if (s.is(State.ISSUED, token)) {
						s.remove(token);
					}
					return s.issue(token, timeToLive);
				}, "tokenIssuedOnceMoreKeepsItsExpiry"),
				issue("issues a token that is in use", (s, token, timeToLive) -> {
					if (!s.is(State.ISSUED, token)) {
						s.remove(token);
					}
					return s.issue(token, timeToLive);
				}, "tokenInUseIsNotIssuedAgain"),
				release("uses a token up with its release", (s, k, id) -> k.isToken() && s.isOwner(k, id),
						(s, k, id) -> s.remove(k), "releaseGivesTheTokenBackWithoutAFingerprint"),
				release("lets anybody release a token", (s, k, id) -> k.isToken() && s.isRunning(k),
						KnownStore::releaseAsOwner, "tokenIsNotReleasedByAnother"),
				release("releases the next claim of a token", (s, k, id) -> k.isToken() && s.hasReleased(id),
						KnownStore::releaseAsOwner, "releaseOfATokenSentOnceMoreDoesNotTouchTheSuccessor"),
				release("lets anybody release a token of ONCE", (s, k, id) -> k.isToken() && s.is(State.ONCE, k),
						KnownStore::releaseAsOwner, "tokenThatIsClaimedOnceIsNotReleasedByAnother"),
				release("gives a released token a new time to live",
						(s, k, id) -> s.isOwner(k, id) && s.release(k, id) && s.is(State.ISSUED, k),
						(s, k, id) -> s.reissue(k), "releasedTokenKeepsItsFirstExpiry"),
				release("gives back a token whose time to live is over",
						(s, k, id) -> k.isToken() && s.isRunning(k) && s.release(k, id) && s.isAbsent(k),
						(s, k, id) -> s.reissue(k), "tokenReleasedAfterItsExpiryIsUnknown"),
				release("gives back a token of ONCE whose time to live is over",
						(s, k, id) -> k.isToken() && s.is(State.ONCE, k) && s.release(k, id) && s.isAbsent(k),
						(s, k, id) -> s.reissue(k), "tokenReleasedFromOnceKeepsItsFirstExpiry"),
				complete("keeps a result no longer than its token", (s, c) -> key(c).isToken() && s.isRunning(key(c)),
						(s, c) -> s.complete(kept(c, Duration.ofMinutes(1))), "resultOutlivesTheToken"),
				renew("renews a token that is not in use", (s, k, id) -> s.is(State.ISSUED, k),
						(s, k, id, lease) -> s.reissue(k), "issuedTokenIsNeitherReleasedNorRenewed"),
				release("releases a token that is not in use", (s, k, id) -> s.is(State.ISSUED, k) && !s.wasClaimed(k),
						(s, k, id) -> false, "issuedTokenIsNeitherReleasedNorRenewed"),
				complete("rejects the completion of a token that was given back", (s, c) -> s.is(State.ISSUED, key(c)),
						(s, c) -> false, "lateCompletionOfAReleasedTokenIsKept"),
				complete("completes a token however late", (s, c) -> s.is(State.ISSUED, key(c)),
						(s, c) -> s.remove(key(c)) && s.completeNow(c),
						"lateCompletionOfATokenOutsideTheRetentionIsRejected"),
				complete("gives back a token that is to be forgotten",
						(s, c) -> key(c).isToken() && isForgetting(c) && s.complete(c), (s, c) -> s.reissue(key(c)),
						"completionWithZeroRetentionUsesTheTokenUp"),
				release("gives back a token that was taken over", (s, k, id) -> k.isToken() && isTakeOver(s, k, id),
						(s, k, id) -> s.reissue(k), "abandonedTokenStaysAbandoned"),
				claim("gives back a token whose owner is dead", (s, r) -> s.wasClaimed(r.key()), KnownStore::claimToken,
						"abandonedTokenIsUnknownAfterTheRetention"),
				claim("knows no token ONCE", (s, r) -> r.key().isToken() && r.type() == ClaimType.ONCE,
						(s, r) -> new UnknownToken(), "tokenIsClaimedOnce"));
	}

	private static List<Defect> values() {
		return List.of(
				result("takes a result for text",
						(result) -> new StoredResult(result.format(), new String(result.bytes(), StandardCharsets.UTF_8)
							.getBytes(StandardCharsets.UTF_8)),
						"resultOfEveryByteComesBack"),
				complete("takes an empty result for none",
						(s, c) -> c.result() != null && c.result().bytes().length == 0, (s, c) -> s
							.complete(tombstone(c)),
						"emptyResultComesBack"),
				result("cuts a result at 64 KB",
						(result) -> new StoredResult(result.format(),
								Arrays.copyOf(result.bytes(), Math.min(result.bytes().length, 0x10000))),
						"resultOfAMegabyteComesBack"),
				result("cuts a format at 16 characters",
						(result) -> new StoredResult(
								result.format().substring(0, Math.min(result.format().length(), 16)), result.bytes()),
						"formatOfAResultComesBack"),
				keys("has one record for each caller",
						(key) -> IdempotencyKey.of(key.operation(), key.caller(), "same"), "twoKeysNeverMeet"),
				keys("joins operation and key",
						(key) -> IdempotencyKey.of("all", key.caller(), key.operation() + ":" + key.value()),
						"keysThatLookAlikeNeverMeet"),
				keys("does not tell kinds of callers apart",
						(key) -> IdempotencyKey.of(key.operation(), Caller.scope(key.caller().name()), key.value()),
						"callersNeverMeet"),
				keys("has one namespace", (key) -> IdempotencyKey.of(key.operation(), key.caller(), key.value()),
						"namespacesNeverMeet"),
				keys("drops what is no letter, digit or hyphen",
						(key) -> IdempotencyKey.of(key.operation(), key.caller(),
								key.value().replaceAll("[^\\p{L}\\p{N}-]", "")),
						"keysAndOperationsMayHoldAnyCharacter"),
				keys("cuts a key at 1,000 characters",
						(key) -> IdempotencyKey.of(key.operation(), key.caller(),
								key.value().substring(0, Math.min(key.value().length(), 1000))),
						"keysMayBeLong"),
				complete("keeps nothing longer than a year",
						(s, c) -> c.retention().compareTo(Duration.ofDays(365)) > 0,
						(s, c) -> s.complete(kept(c, Duration.ofDays(365))), "leaseAndRetentionMayBeYears"));
	}

	private static List<Defect> races() {
		return List.of(
				claim("looks for a record, then writes one", (s, r) -> seenBy(s, r.key(), s.isAbsent(r.key())),
						KnownStore::claimAnew, "freshKeyIsAcquiredByOneOfMany", "nobodyRunsAfterACompletion",
						"claimSentTwiceAtOnceIsAcquiredTwiceWithOneFence"),
				claim("looks for a token, then uses it", (s, r) -> seenBy(s, r.key(), s.is(State.ISSUED, r.key())),
						KnownStore::claimAnew, "issuedTokenIsConsumedOnceInAStorm"),
				claim("looks for the end of a lease, then takes over",
						(s, r) -> seenBy(s, r.key(), s.isLeaseOver(r.key())), KnownStore::claimAnew,
						"abandonedKeyIsTakenOverByOneOfMany"),
				claim("looks whose a record is, then takes it over", (s, r) -> seenBy(s, r.key(), s.isNobodys(r.key())),
						KnownStore::claimAnew, "nobodysKeyIsTakenOverByOneOfMany"),
				of("gives a key to two owners", TwoOwners::new, "ownersOfAForgottenKeyNeverOverlap"),
				of("renews what is taken over at the same time", (s) -> new TakenOverMeanwhile(s) {

					@Override
					public boolean renew(IdempotencyKey key, ClaimId id, Duration lease) {
						return seenBy(s, key, true);
					}

				}, "renewalAndTakeOverExcludeEachOther"),
				of("completes what is taken over at the same time", (s) -> new TakenOverMeanwhile(s) {

					@Override
					public boolean complete(Completion completion) {
						return seenBy(s, key(completion), true);
					}

				}, "completionAndTakeOverExcludeEachOther"),
				of("releases what is taken over at the same time", (s) -> new TakenOverMeanwhile(s) {

					@Override
					public boolean release(IdempotencyKey key, ClaimId id) {
						return seenBy(s, key, true);
					}

				}, "releaseAndTakeOverExcludeEachOther"),
				complete("rejects the slower of two equal completions",
						(s, c) -> seenBy(s, key(c), s.isRunning(key(c))) && s.count(key(c)) > 3, (s, c) -> false,
						"completionSentTwiceAtOnceIsAcceptedTwice"));
	}

	private static List<Defect> administration() {
		return List.of(operators("finds what is not there", (admin) -> new Operators(admin) {

			@Override
			public Eviction evict(RecordKey key, boolean force) {
				super.evict(key, force);
				return Eviction.EVICTED;
			}

		}, "absentRecordIsNotFound"), shown("shows when a call was seen first",
				(r) -> new IdempotencyRecord(r.operation(), r.id(), r.state(), Instant.EPOCH, r.leaseRest(),
						r.retentionRest(), r.attempts(), r.node(), r.traceId()),
				"recordOfARunningCallShowsItsLease"),
				shown("shows a tombstone as a result",
						(r) -> (r.state() == State.RESULT_NOT_STORED) ? in(State.DONE, r) : r,
						"recordOfACallThatIsDoneShowsItsRetention"),
				shown("shows one attempt",
						(r) -> new IdempotencyRecord(r.operation(), r.id(), r.state(), r.claimedAt(), r.leaseRest(),
								r.retentionRest(), Math.min(r.attempts(), 1), r.node(), r.traceId()),
						"recordOfAClaimOnceShowsItsAttempts"),
				shown("shows a token as a running call", (r) -> (r.state() == State.ISSUED) ? in(State.RUNNING, r) : r,
						"recordOfAnUnusedTokenIsIssued"),
				shown("shows a dead call as a running one",
						(r) -> (r.state() == State.ABANDONED) ? in(State.RUNNING, r) : r,
						"recordOfADeadOwnerIsAbandonedAndMayBeEvicted"),
				claim("does not keep where a claim came from", (s, r) -> true,
						(s, r) -> s.claim(r.withOrigin(ClaimOrigin.UNKNOWN)), "recordShowsWhereItsLastClaimCameFrom"),
				shown("shows the node of a token that was given back",
						(r) -> (r.state() == State.ISSUED) ? new IdempotencyRecord(r.operation(), r.id(), r.state(),
								r.claimedAt(), r.leaseRest(), r.retentionRest(), r.attempts(), "node-1", null) : r,
						"tokenThatIsGivenBackComesFromNobody"),
				operators("says that it has removed what it keeps", (admin) -> new Operators(admin) {

					@Override
					public Eviction evict(RecordKey key, boolean force) {
						return find(key).isPresent() ? Eviction.EVICTED : Eviction.ABSENT;
					}

				}, "evictedKeyIsNew"), operators("removes the record of a live call", (admin) -> new Operators(admin) {

					@Override
					public Eviction evict(RecordKey key, boolean force) {
						return super.evict(key, true);
					}

				}, "recordOfALiveCallIsEvictedByForceOnly"),
				operators("lists all operations", (admin) -> new Operators(admin) {

					@Override
					public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
						return super.scan(new RecordSelection(null, null, selection.caller()), cursor, count);
					}

				}, "recordsOfAnOperationAreListed"), operators("lists one page", (admin) -> new Operators(admin) {

					@Override
					public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
						return new IdempotencyRecordPage(super.scan(selection, cursor, count).records(), null);
					}

				}, "recordsOfOneCallerAreListedPageByPage"),
				operators("begins anew at a cursor that it does not know", (admin) -> new Operators(admin) {

					@Override
					public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
						return super.scan(selection, null, count);
					}

				}, "cursorOfNoStoreIsRejected"));
	}

	private static List<Defect> finds() {
		return List.of(find("finds nothing", (s, k, f) -> Optional.empty(), "findsTheResultThatAClaimIsGiven"),
				find("claims what it does not find", (s, k, f) -> {
					if (s.isAbsent(k)) {
						s.claim(ClaimRequest.of(k, LONG, LONG));
					}
					return s.find(k, f);
				}, "findClaimsNothing"), find("takes over", (s, k, f) -> {
					if (s.isLeaseOver(k)) {
						s.claim(ClaimRequest.of(k, LONG, LONG));
					}
					return s.find(k, f);
				}, "findTakesNothingOver"),
				find("compares no fingerprint", (s, k, f) -> s.find(k, Fingerprint.NONE),
						"findsNoResultThatAClaimIsNotGiven"),
				find("finds an empty result where there is none",
						(s, k, f) -> s.is(State.RESULT_NOT_STORED, k)
								? Optional.of(new Completed(Call.result(""), LONG)) : s.find(k, f),
						"findsNoResultUnavailable"),
				find("counts a find", (s, k, f) -> {
					if (s.is(State.ONCE, k)) {
						s.claim(ClaimRequest.of(k, LONG, LONG).withType(ClaimType.ONCE));
					}
					return s.find(k, f);
				}, "findCountsNoAttempt"), find("uses a token", (s, k, f) -> {
					if (s.is(State.ISSUED, k)) {
						s.claim(ClaimRequest.of(k, LONG, LONG));
					}
					return s.find(k, f);
				}, "findUsesNoToken"));
	}

	private static List<Defect> model() {
		return List.of(claim("lets nobody run", (s, r) -> true, (s, r) -> new ResultUnavailable(),
				"randomVerbsAnswerAsTheStateTable"));
	}

	private static IdempotencyKey key(Completion completion) {
		return completion.claim().key();
	}

	private static Claim withFence(Claim claim, long fencingToken) {
		return new Claim(claim.key(), claim.id(), fencingToken, claim.abandoned());
	}

	private static Completion tombstone(Completion completion) {
		return Completion.withoutResult(completion.claim(), completion.fingerprint(), completion.retention());
	}

	private static Completion kept(Completion completion, Duration retention) {
		return KnownStore.with(completion, retention, completion.attachWithin());
	}

	private static IdempotencyRecord in(State state, IdempotencyRecord record) {
		return new IdempotencyRecord(record.operation(), record.id(), state, record.claimedAt(), record.leaseRest(),
				record.retentionRest(), record.attempts(), record.node(), record.traceId());
	}

	private static boolean isOwner(KnownStore sound, ClaimRequest request) {
		return sound.isOwner(request.key(), request.claimId());
	}

	private static boolean isOwner(KnownStore sound, Completion completion) {
		return sound.isOwner(key(completion), completion.claim().id());
	}

	private static boolean isTakeOver(KnownStore sound, IdempotencyKey key, ClaimId id) {
		return sound.isRunning(key) && sound.isOwner(key, id) && sound.claim(key).abandoned();
	}

	private static boolean isLateOwner(KnownStore sound, IdempotencyKey key, ClaimId id) {
		return sound.isTakenFrom(id, key) && !sound.hasReleased(id);
	}

	private static boolean isForgetting(Completion completion) {
		return completion.retention().isZero();
	}

	/** Returns whether the completion finds no record, and is to leave one. */
	private static boolean isLate(KnownStore sound, Completion completion, Type type) {
		return completion.type() == type && sound.isAbsent(key(completion)) && !isForgetting(completion);
	}

	/** Returns whether the result has not come within the time for it. */
	private static boolean isUnattached(KnownStore sound, Completion completion) {
		return sound.is(State.RESULT_NOT_STORED, key(completion))
				&& sound.completion(key(completion)).type() == Type.COMMITTED;
	}

	private static ClaimResult claimWhatever(KnownStore sound, ClaimRequest request) {
		return sound.claim(request.withFingerprint(Fingerprint.NONE));
	}

	private static boolean completeSameRequest(KnownStore sound, Completion completion) {
		return sound
			.complete(KnownStore.with(completion, completion.claim(), sound.request(key(completion)).fingerprint()));
	}

	private static Duration positive(Duration duration) {
		return duration.isNegative() ? Duration.ZERO : duration;
	}

	/** Lets two callers of the key see the same before one of them writes. */
	private static boolean seenBy(KnownStore sound, IdempotencyKey key, boolean seen) {
		if (seen) {
			sound.meet(key);
		}
		return seen;
	}

	/** A store that gives back another result than it was given. */
	private static Defect result(String what, UnaryOperator<StoredResult> changed, String... rules) {
		return complete(what, (s, c) -> c.result() != null, (s, c) -> s.complete(Completion.result(c.claim(),
				c.fingerprint(), changed.apply(Objects.requireNonNull(c.result())), c.retention(), c.kind())), rules);
	}

	/** A store whose take-overs do not see what else changes a record at that moment. */
	private static class TakenOverMeanwhile extends ForwardingIdempotencyStore {

		private final KnownStore sound;

		TakenOverMeanwhile(KnownStore sound) {
			super(sound);
			this.sound = sound;
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			seenBy(this.sound, request.key(), this.sound.isLeaseOver(request.key()));
			return super.claim(request);
		}

	}

	/** A store that gives one claim to a second caller before the first one ends. */
	private static final class TwoOwners extends ForwardingIdempotencyStore {

		private final AtomicReference<@Nullable ClaimId> second = new AtomicReference<>();

		private final CountDownLatch released = new CountDownLatch(1);

		TwoOwners(KnownStore sound) {
			super(sound);
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			ClaimResult answer = super.claim(request);
			return (answer instanceof InProgress && this.second.compareAndSet(null, request.claimId()))
					? new Acquired(new Claim(request.key(), request.claimId(), 1, false)) : answer;
		}

		/** The first owner ends after the second one. */
		@Override
		public boolean release(IdempotencyKey key, ClaimId id) {
			if (id.equals(this.second.get())) {
				boolean accepted = super.release(key, id);
				this.released.countDown();
				return accepted;
			}
			KnownStore.await(this.released);
			return super.release(key, id);
		}

	}

}
