package io.idempotency.store.memory;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordId;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.MemoryIdempotencyStore.Entry;
import io.idempotency.store.memory.RecordQueue.Node;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads do anything at all while time jumps: two owners never hold a live lease,
 * no key is completed twice, no byte is lost.
 */
class MemoryIdempotencyStoreRaceTests {

	private static final int THREADS = 8;

	private static final Duration LEASE = Duration.ofMillis(20);

	private final YieldingClock clock = new YieldingClock();

	@Test
	void noTwoLiveOwnersAndNoSecondCompletion() throws Exception {
		MemoryIdempotencyStore store = new MemoryIdempotencyStore(64_000_000, this.clock);
		Queue<String> violations = new ConcurrentLinkedQueue<>();
		List<Watch> watches = new ArrayList<>();
		for (int i = 0; i < 1500; i++) {
			watches.add(new Watch(key("key " + i), violations));
		}
		AtomicLong completions = new AtomicLong();
		AtomicLong takeOvers = new AtomicLong();
		runInThreads((random) -> {
			List<Run> runs = new ArrayList<>();
			for (int i = 0; i < 20_000; i++) {
				if (random.nextInt(4) > 0) {
					// few keys at a time, so that threads meet
					Watch watch = watches.get((i / 30 * 4 + random.nextInt(4)) % watches.size());
					Run run = claim(store, watch, random);
					if (run != null) {
						runs.add(run);
						takeOvers.addAndGet(run.claim.abandoned() ? 1 : 0);
					}
				}
				if (!runs.isEmpty() && (runs.size() > 20 || random.nextBoolean())) {
					completions.addAndGet(goOn(store, runs, random));
				}
				if (random.nextInt(10) == 0) {
					this.clock.advance(random.nextInt(12));
				}
			}
		});
		assertThat(violations).isEmpty();
		assertThat(completions.get()).as("accepted completions").isGreaterThan(100);
		assertThat(takeOvers.get()).as("take-overs").isGreaterThan(100);
		assertConsistent(store);
	}

	@Test
	void everyByteIsCountedWhateverHappens() throws Exception {
		long maxBytes = 60L * MemoryIdempotencyStore.RECORD_BYTES;
		MemoryIdempotencyStore store = new MemoryIdempotencyStore(maxBytes, this.clock);
		AtomicLong rejections = new AtomicLong();
		Queue<Long> overdrafts = new ConcurrentLinkedQueue<>();
		runInThreads((random) -> {
			List<Claim> claims = new ArrayList<>();
			for (int i = 0; i < 10_000; i++) {
				try {
					anything(store, claims, random);
				}
				catch (IdempotencyStoreException ex) {
					rejections.incrementAndGet();
				}
				long used = store.usedBytes();
				if (used > maxBytes || used < 0) {
					overdrafts.add(used);
				}
			}
		});
		assertThat(overdrafts).isEmpty();
		assertThat(rejections.get()).as("the store was full at times").isPositive();
		assertConsistent(store);
	}

	private void anything(MemoryIdempotencyStore store, List<Claim> claims, RandomGenerator random) {
		Duration retention = Duration.ofMillis(random.nextInt(200) + 1);
		IdempotencyKey key = random.nextInt(4) == 0
				? IdempotencyKey.ofToken(Caller.GLOBAL, "token " + random.nextInt(20))
				: key("key " + random.nextInt(80));
		ClaimType type = (random.nextInt(5) == 0) ? ClaimType.ONCE : ClaimType.LEASED;
		Claim claim = claims.isEmpty() ? new Claim(key, ClaimId.random(), 1, false)
				: claims.get(random.nextInt(claims.size()));
		StoredResult result = new StoredResult("test",
				new byte[random.nextInt(3 * MemoryIdempotencyStore.RECORD_BYTES)]);
		switch (random.nextInt(11)) {
			case 0 -> store.release(claim.key(), claim.id());
			case 1 -> store.renew(claim.key(), claim.id(), LEASE);
			case 2 -> store.complete(Completion.forget(claim, Fingerprint.NONE));
			case 3 -> store.complete(Completion.executed(claim, Fingerprint.NONE, LEASE, retention));
			case 4, 5 -> store.complete(Completion.result(claim, Fingerprint.NONE, result, retention, kind(random)));
			case 7 -> store.complete(Completion.withoutResult(claim, Fingerprint.NONE, retention, kind(random)));
			case 6 -> this.clock.advance(random.nextInt(10) - 1);
			default -> {
				if (key.isToken()) {
					store.issue(key, retention);
				}
				if (store.claim(ClaimRequest.of(key, LEASE, retention)
					.withType(type)
					.withTakeOver(random.nextBoolean())) instanceof Acquired acquired) {
					claims.add(acquired.claim());
				}
			}
		}
		if (claims.size() > 30) {
			claims.remove(0);
		}
	}

	private static ResultKind kind(RandomGenerator random) {
		return ResultKind.values()[random.nextInt(ResultKind.values().length)];
	}

	private Run claim(MemoryIdempotencyStore store, Watch watch, RandomGenerator random) {
		boolean completedBefore = watch.winner != null;
		long sent = this.clock.millis();
		ClaimRequest request = ClaimRequest.of(watch.key, LEASE, (random.nextInt(3) == 0) ? LEASE : Duration.ofDays(1))
			.withTakeOver(random.nextInt(4) > 0);
		if (!(store.claim(request) instanceof Acquired acquired)) {
			return null;
		}
		if (completedBefore) {
			watch.violations.add("acquired after it was completed");
		}
		Run run = new Run(watch, acquired.claim(), sent + LEASE.toMillis(), this.clock.millis());
		watch.began(run);
		return run;
	}

	/**
	 * Renews, releases or completes one of the runs, in time or late, or lets its owner
	 * die.
	 * @return how many completions were accepted
	 */
	private long goOn(MemoryIdempotencyStore store, List<Run> runs, RandomGenerator random) {
		int index = random.nextInt(runs.size());
		Run run = runs.get(index);
		Claim claim = run.claim;
		Run current = run.watch.current();
		int what = random.nextInt(20);
		boolean accepted;
		if (what < 6) {
			long sent = this.clock.millis();
			accepted = store.renew(claim.key(), claim.id(), LEASE);
			run.leaseUntil = accepted ? sent + LEASE.toMillis() : run.leaseUntil;
		}
		else if (what < 12) {
			runs.remove(index);
			accepted = false;
		}
		else if (what < 18) {
			runs.remove(index).ended = true;
			accepted = store.release(claim.key(), claim.id());
		}
		else {
			runs.remove(index).ended = true;
			StoredResult result = new StoredResult("test", new byte[16]);
			accepted = store.complete(Completion.result(claim, Fingerprint.NONE, result, Duration.ofDays(1)));
			if (accepted) {
				run.watch.completed(claim.id());
			}
		}
		if (accepted) {
			run.watch.accepted(run, current, this.clock.millis());
		}
		return (accepted && what >= 18) ? 1 : 0;
	}

	private void runInThreads(Work work) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			Callable<Void> task = () -> {
				work.run(ThreadLocalRandom.current());
				return null;
			};
			for (Future<Void> future : threads.invokeAll(Collections.nCopies(THREADS, task))) {
				future.get(2, TimeUnit.MINUTES);
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	/** Counts again what the store has counted on the way. */
	@SuppressWarnings("unchecked")
	private static void assertConsistent(MemoryIdempotencyStore store) {
		Collection<Entry> entries = ((Map<RecordId, Entry>) ReflectionTestUtils.getField(store, "entries")).values();
		assertThat(store.usedBytes()).isEqualTo(entries.stream().mapToLong(Entry::bytes).sum());
		assertThat(store.keptBytes()).isEqualTo(entries.stream().mapToLong(Entry::keptBytes).sum());
		assertThat(ReflectionTestUtils.getField(store, "tokenBytes"))
			.asInstanceOf(InstanceOfAssertFactories.ATOMIC_LONG)
			.hasValue(entries.stream().mapToLong(Entry::tokenBytes).sum());
		assertQueued(store, "expiryQueue", entries, Entry::expiryBucket);
		assertQueued(store, "evictionQueue", entries, Entry::evictionBucket);
	}

	private static void assertQueued(MemoryIdempotencyStore store, String queue, Collection<Entry> entries,
			Function<Entry, Long> bucketOf) {
		Map<Long, Set<RecordId>> expected = entries.stream()
			.filter((entry) -> bucketOf.apply(entry) != null)
			.collect(Collectors.groupingBy(bucketOf, Collectors.mapping(Entry::id, Collectors.toSet())));
		Map<Long, Set<RecordId>> actual = new HashMap<>();
		((RecordQueue) ReflectionTestUtils.getField(store, queue)).buckets.forEach((bucket, head) -> {
			for (Node node = head.next; node != head; node = node.next) {
				assertThat(node.previous.next).isSameAs(node);
				assertThat(actual.computeIfAbsent(bucket, (number) -> new HashSet<>()).add(node.id)).isTrue();
			}
		});
		assertThat(actual).isEqualTo(expected);
	}

	private static IdempotencyKey key(String value) {
		return IdempotencyKey.of("orders", Caller.GLOBAL, value);
	}

	private interface Work {

		void run(RandomGenerator random);

	}

	/**
	 * One owner. Its lease lives at least until {@link #leaseUntil}, because the store
	 * saw the claim after it was sent; it was acquired at the latest at
	 * {@link #acquired}.
	 */
	private static final class Run {

		private final Watch watch;

		private final Claim claim;

		private final long acquired;

		private volatile long leaseUntil;

		private volatile boolean ended;

		Run(Watch watch, Claim claim, long leaseUntil, long acquired) {
			this.watch = watch;
			this.claim = claim;
			this.leaseUntil = leaseUntil;
			this.acquired = acquired;
		}

	}

	/**
	 * Watches the owners of one key from outside of the store.
	 */
	private static final class Watch {

		private final IdempotencyKey key;

		private final Queue<String> violations;

		private Run last;

		private volatile ClaimId winner;

		Watch(IdempotencyKey key, Queue<String> violations) {
			this.key = key;
			this.violations = violations;
		}

		synchronized void began(Run run) {
			if (this.last != null) {
				boolean overtaken = this.last.claim.fencingToken() > run.claim.fencingToken();
				Run earlier = overtaken ? run : this.last;
				Run later = overtaken ? this.last : run;
				if (!earlier.ended && earlier.leaseUntil > later.acquired) {
					this.violations.add("two live owners: " + earlier.claim + " and " + later.claim);
				}
				this.last = later;
				return;
			}
			this.last = run;
		}

		synchronized Run current() {
			return this.last;
		}

		/**
		 * A verb of the run was accepted that was sent when there was a current owner.
		 */
		void accepted(Run run, Run current, long now) {
			boolean successor = current.claim.fencingToken() > run.claim.fencingToken();
			if (successor && !current.ended && current.leaseUntil > now) {
				this.violations.add("accepted from " + run.claim + " under live owner " + current.claim);
			}
		}

		synchronized void completed(ClaimId owner) {
			if (this.winner != null) {
				this.violations.add("completed twice");
			}
			this.winner = owner;
		}

	}

	/**
	 * Is read under the lock of a key, and there often lets other threads go first.
	 */
	private static final class YieldingClock extends Clock {

		private final AtomicLong millis = new AtomicLong(1_700_000_000_000L);

		void advance(int by) {
			this.millis.addAndGet(by);
		}

		@Override
		public long millis() {
			return this.millis.get();
		}

		@Override
		public Instant instant() {
			Instant instant = Instant.ofEpochMilli(millis());
			if (ThreadLocalRandom.current().nextInt(4) == 0) {
				Thread.yield();
			}
			return instant;
		}

		@Override
		public ZoneId getZone() {
			return ZoneOffset.UTC;
		}

		@Override
		public Clock withZone(ZoneId zone) {
			return Clock.fixed(instant(), zone);
		}

	}

}
