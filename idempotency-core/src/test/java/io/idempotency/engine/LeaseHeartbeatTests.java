package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.ScriptedStore.Point;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is done about a beat whose thread does not come, or comes late: here it comes when
 * a test says so.
 */
class LeaseHeartbeatTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	/** Whatever is given to a thread waits. */
	private final Deque<Runnable> waiting = new ArrayDeque<>();

	private final ManualScheduler time = new ManualScheduler((name) -> this.waiting::add);

	private final ScriptedStore store = new ScriptedStore(new MemoryIdempotencyStore(1_000_000));

	private final RecordedEvents events = new RecordedEvents();

	private final CapturedLog log = new CapturedLog();

	private Runnable atLoss = () -> {
	};

	private final Renewer renewer = new Renewer(this.store, this.time, new StoreCircuitBreaker("store", this.time),
			new EventPublisher((event, operation) -> {
				this.events.onEvent(event, operation);
				if (event == IdempotencyEvent.LEASE_LOST) {
					this.atLoss.run();
				}
			}));

	@AfterEach
	void close() {
		this.log.close();
	}

	@Test
	void beatThatFailsIsRepeatedSoonerThanTheNextWouldCome() {
		assertThat(Renewer.retryDelay(Duration.ofSeconds(30))).isEqualTo(Duration.ofSeconds(1));
		assertThat(Renewer.retryDelay(Duration.ofSeconds(3))).isEqualTo(Duration.ofMillis(300));
	}

	@Test
	void whatHangsTogetherIsLookedAfterOneByOneAndNeverTwice() {
		start("key-1");
		start("key-2");
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.waiting).as("both together").hasSize(1);
		this.time.advance(Duration.ofMillis(4_900));
		assertThat(this.waiting).hasSize(1);
		this.time.advance(Duration.ofMillis(100));
		assertThat(this.waiting).as("each by itself").hasSize(3);
		this.time.advance(Duration.ofMinutes(5));
		assertThat(this.waiting).hasSize(3);
	}

	@Test
	void beatThatIsBackFromBothIsRenewedTogetherAgain() {
		start("key-1");
		start("key-2");
		this.time.advance(Duration.ofSeconds(15));
		assertThat(this.waiting).hasSize(3);
		runAll();
		assertThat(this.store.count(Verb.RENEW)).isEqualTo(4);
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.waiting).as("both together").hasSize(1);
	}

	@Test
	void beatThatIsStoppedBeforeItsThreadComesAsksNothing() {
		LeaseHeartbeat beat = start("key-1");
		this.time.advance(Duration.ofSeconds(10));
		beat.stop();
		runAll();
		assertThat(this.store.count(Verb.RENEW)).isZero();
		assertThat(this.renewer.running()).isZero();
	}

	@Test
	void retentionThatIsOverWhileABeatHangsEndsTheBeats() {
		start("key-1").untilRetentionIsOver(Duration.ofSeconds(12));
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.waiting).hasSize(1);
		this.time.advance(Duration.ofMillis(1_900));
		assertThat(this.renewer.running()).isOne();
		this.time.advance(Duration.ofMillis(200));
		assertThat(this.renewer.running()).isZero();
	}

	@Test
	void retentionThatIsOverSoonAfterAFailureEndsTheBeats() {
		this.store.failBefore(Verb.RENEW, 1);
		start("key-1").untilRetentionIsOver(Duration.ofMillis(10_500));
		this.time.advance(Duration.ofSeconds(10));
		runAll();
		assertThat(this.events.count(IdempotencyEvent.STORE_RETRY)).isOne();
		this.time.advance(Duration.ofMillis(600));
		assertThat(this.renewer.running()).isZero();
	}

	@Test
	void failureIsRepeatedAfterASecond() {
		this.store.failBefore(Verb.RENEW, 1);
		start("key-1");
		this.time.advance(Duration.ofSeconds(10));
		runAll();
		this.time.advance(Duration.ofMillis(900));
		assertThat(this.waiting).isEmpty();
		this.time.advance(Duration.ofMillis(100));
		assertThat(this.waiting).hasSize(1);
	}

	@Test
	void beatIsLateAfterTwoThirdsOfTheLease() {
		start("key-1");
		this.time.advance(Duration.ofSeconds(20));
		runAll();
		assertThat(this.events.lateBeats()).isZero();
		start("key-2");
		this.time.advance(Duration.ofMillis(20_100));
		runAll();
		assertThat(this.events.lateBeats()).isPositive();
	}

	/** It is sent at 16 s, so the next one is due at 26 s. Its reply comes at 28 s. */
	@Test
	void replyThatIsLateIsFollowedByTheNextRenewalAtOnce() {
		start("key-1");
		this.time.advance(Duration.ofSeconds(10));
		this.store.on(Verb.RENEW, Point.BEFORE, 1, () -> this.time.advance(Duration.ofSeconds(6)));
		this.waiting.remove().run();
		this.store.on(Verb.RENEW, Point.BEFORE, 1, () -> this.time.advance(Duration.ofSeconds(12)));
		this.waiting.remove().run();
		assertThat(this.waiting).isEmpty();
		this.time.advance(Duration.ZERO);
		assertThat(this.waiting).hasSize(1);
	}

	@Test
	void latenessCountsFromAThirdOfTheLease() {
		this.time.advance(Duration.ofSeconds(3));
		start("key-1");
		this.time.advance(Duration.ofSeconds(9));
		assertThat(this.renewer.lateNanos()).isZero();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.renewer.lateNanos()).isEqualTo(Duration.ofSeconds(1).toNanos());
		runAll();
		assertThat(this.renewer.lateNanos()).isZero();
	}

	@Test
	void retentionCountsFromTheClaim() {
		this.time.advance(Duration.ofSeconds(3));
		start("key-1").untilRetentionIsOver(Duration.ofSeconds(12));
		this.time.advance(Duration.ofMillis(11_900));
		assertThat(this.renewer.running()).isOne();
		this.time.advance(Duration.ofMillis(200));
		assertThat(this.renewer.running()).isZero();
	}

	@Test
	void retentionWithoutEndEndsNoBeats() {
		this.time.advance(Duration.ofSeconds(3));
		start("key-1").untilRetentionIsOver(Duration.ofSeconds(Long.MAX_VALUE));
		this.time.advance(Duration.ofSeconds(9));
		assertThat(this.waiting).isEmpty();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.waiting).hasSize(1);
		assertThat(this.renewer.running()).isOne();
	}

	@Test
	void renewalThatIsDueAThirtiethOfTheLeaseLaterIsMadeNow() {
		start("key-1");
		this.time.advance(Duration.ofSeconds(1));
		start("key-2");
		this.time.advance(Duration.ofSeconds(9));
		runAll();
		assertThat(this.store.count(Verb.RENEW)).isEqualTo(2);
		this.time.advance(Duration.ofSeconds(9));
		assertThat(this.waiting).isEmpty();
	}

	@Test
	void renewalThatIsDueLaterThanThatIsNotMadeYet() {
		start("key-1");
		this.time.advance(Duration.ofMillis(1_100));
		start("key-2");
		this.time.advance(Duration.ofMillis(8_900));
		runAll();
		assertThat(this.store.count(Verb.RENEW)).isOne();
		this.time.advance(Duration.ofMillis(1_100));
		runAll();
		assertThat(this.store.count(Verb.RENEW)).isEqualTo(2);
	}

	@Test
	void shorterLeaseNeedsAnEarlierSweepAndNoSecondTimer() {
		start("key-1");
		start("key-2", Duration.ofSeconds(3));
		assertThat(this.time.timers()).isOne();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.waiting).hasSize(1);
	}

	/** A report asks the store who has the lost claim now, and the store may hang. */
	@Test
	void claimsThatWereRenewedDoNotWaitForReportsOfLostOnes() {
		for (int i = 0; i < 10; i++) {
			LeaseHeartbeat beat = start("key-" + i);
			if (i % 2 == 0) {
				this.store.release(beat.renewal().key(), beat.claimId());
			}
		}
		List<Long> late = new ArrayList<>();
		this.atLoss = () -> late.add(this.renewer.lateNanos());
		this.time.advance(Duration.ofSeconds(12));
		runAll();
		assertThat(late).containsExactly(0L, 0L, 0L, 0L, 0L);
	}

	private void runAll() {
		while (!this.waiting.isEmpty()) {
			this.waiting.remove().run();
		}
	}

	private LeaseHeartbeat start(String key) {
		return start(key, LEASE);
	}

	private LeaseHeartbeat start(String key, Duration lease) {
		IdempotencyOptions policy = TestPolicy.replay().lease(lease).build();
		GuardedCall call = new GuardedCall(IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, key),
				Fingerprint.NONE, policy, this.store);
		ClaimId id = ClaimId.random();
		assertThat(this.store.claim(ClaimRequest.of(call.key(), lease, policy.retention()).withClaimId(id)))
			.isInstanceOf(ClaimResult.Acquired.class);
		return this.renewer.start(call, id, ClaimOrigin.UNKNOWN, this.time.nanos());
	}

}
