package io.idempotency.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.idempotency.IdempotencyEvent;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * More running claims than one could renew one by one.
 */
@Timeout(150)
class ManyClaimsTests {

	private static final Logger logger = LoggerFactory.getLogger(ManyClaimsTests.class);

	private static final Duration LEASE = Duration.ofSeconds(10);

	/**
	 * A lease that nobody renews is over after two; a job of every night looks longer.
	 */
	private static final int HALF_LEASES = "all".equals(System.getProperty("idempotency.tests.variants")) ? 5 : 3;

	private static final List<IdempotencyKey> KEYS = HeldCalls.keys("held-", 10_000);

	private static final int MAX_THREADS = 20;

	private final MemoryIdempotencyStore memory = new MemoryIdempotencyStore(64_000_000);

	private final DistantStore store = new DistantStore(this.memory);

	private final AtomicInteger lost = new AtomicInteger();

	private final HeldCalls calls = new HeldCalls(this.store, TestPolicy.replay().lease(LEASE).build(),
			(event, operation) -> {
				if (event == IdempotencyEvent.LEASE_LOST) {
					this.lost.incrementAndGet();
				}
			});

	@Test
	void noLeaseIsOverWhileItsOwnerLives() throws Exception {
		try (this.calls) {
			this.calls.start(KEYS);
			long end = System.nanoTime() + LEASE.multipliedBy(HALF_LEASES).dividedBy(2).toNanos();
			await().atMost(Duration.ofSeconds(90))
				.pollInterval(Duration.ofMillis(500))
				.until(() -> System.nanoTime() - end > 0 || leasesOver() > 0);
			assertThat(leasesOver()).as("leases that are over, of %s", KEYS.size()).isZero();
			assertThat(this.store.renewedTooLate()).as("leases that were over before they were renewed").isZero();
			int threads = EngineThreads.alive().size();
			logger.info("{} claims are kept alive by {} threads, {} calls of the store", KEYS.size(), threads,
					this.store.renewals());
			assertThat(threads).as("threads of the engine").isLessThanOrEqualTo(MAX_THREADS);

			List<IdempotencyKey> some = KEYS.subList(0, 100);
			this.calls.end(some);
			await().atMost(Duration.ofSeconds(60)).until(() -> this.calls.areAnswered(some));
			assertThat(some).allMatch((key) -> ask(key) instanceof ClaimResult.Completed);
			assertThat(this.lost).hasValue(0);
		}
	}

	private long leasesOver() {
		return KEYS.stream().filter((key) -> !(ask(key) instanceof ClaimResult.InProgress)).count();
	}

	/** What another node is told, which takes nothing over. */
	private ClaimResult ask(IdempotencyKey key) {
		return this.memory.claim(ClaimRequest.of(key, LEASE, Duration.ofHours(24)).withTakeOver(false));
	}

	/**
	 * A store at the other end of a network: every call takes 15 ms, however much is in
	 * it.
	 */
	private static final class DistantStore extends ForwardingIdempotencyStore {

		private static final long ROUND_TRIP_NANOS = TimeUnit.MILLISECONDS.toNanos(15);

		private final Map<ClaimId, Long> aliveSince = new ConcurrentHashMap<>();

		private final AtomicInteger renewals = new AtomicInteger();

		private final AtomicInteger renewedTooLate = new AtomicInteger();

		DistantStore(IdempotencyStore delegate) {
			super(delegate);
		}

		int renewals() {
			return this.renewals.get();
		}

		int renewedTooLate() {
			return this.renewedTooLate.get();
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			travel();
			this.aliveSince.put(request.claimId(), System.nanoTime());
			return super.claim(request);
		}

		@Override
		public boolean complete(Completion completion) {
			travel();
			return super.complete(completion);
		}

		@Override
		public boolean release(IdempotencyKey key, ClaimId claimId) {
			travel();
			return super.release(key, claimId);
		}

		@Override
		public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
			this.renewals.incrementAndGet();
			travel();
			alive(claimId);
			return super.renew(key, claimId, lease);
		}

		@Override
		public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
			this.renewals.incrementAndGet();
			travel();
			renewals.forEach((renewal) -> alive(renewal.claimId()));
			return super.renewAll(renewals);
		}

		@Override
		public Instant issue(IdempotencyKey token, Duration timeToLive) {
			travel();
			return super.issue(token, timeToLive);
		}

		private void alive(ClaimId claimId) {
			long now = System.nanoTime();
			Long before = this.aliveSince.put(claimId, now);
			if (before == null || now - before > LEASE.toNanos()) {
				this.renewedTooLate.incrementAndGet();
			}
		}

		private static void travel() {
			long end = System.nanoTime() + ROUND_TRIP_NANOS;
			while (System.nanoTime() - end < 0 && !Thread.currentThread().isInterrupted()) {
				LockSupport.parkNanos(end - System.nanoTime());
			}
		}

	}

}
