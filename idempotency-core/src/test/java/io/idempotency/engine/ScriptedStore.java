package io.idempotency.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.Renewal;

/**
 * A store that fails, blocks or does anything else before or after each of its steps, as
 * often as a test says, and remembers what was asked of it. Between the two points of a
 * step stands a real store.
 */
public final class ScriptedStore implements IdempotencyStore {

	public static final int ALWAYS = Integer.MAX_VALUE;

	private final IdempotencyStore delegate;

	private final List<Line> script = new CopyOnWriteArrayList<>();

	private final Queue<Verb> sequence = new ConcurrentLinkedQueue<>();

	private final Queue<ClaimRequest> claims = new ConcurrentLinkedQueue<>();

	private volatile Hook<Collection<Renewal>> beforeRenewals = (renewals) -> {
	};

	private volatile Hook<ClaimId> beforeRenewal = (claimId) -> {
	};

	private volatile Hook<ClaimId> afterRenewal = (claimId) -> {
	};

	public ScriptedStore(IdempotencyStore delegate) {
		this.delegate = delegate;
	}

	/** Fails before the step was applied. */
	public void failBefore(Verb verb, int times) {
		fail(verb, Point.BEFORE, times, () -> new IdempotencyStoreException(verb + " was not applied"));
	}

	/** Fails after the step was applied: its reply is lost. */
	public void failAfter(Verb verb, int times) {
		fail(verb, Point.AFTER, times, () -> new IdempotencyStoreException("The reply of " + verb + " was lost"));
	}

	public void fail(Verb verb, Point point, int times, Supplier<? extends Throwable> failure) {
		on(verb, point, times, () -> {
			throw failure.get();
		});
	}

	/** Does something at a point of the next steps. */
	public void on(Verb verb, Point point, int times, Step step) {
		this.script.add(new Line(verb, point, new AtomicInteger(), new AtomicInteger(times), step));
	}

	/** Does something at a point of one later step, after some that it leaves alone. */
	public void onLater(Verb verb, Point point, int skipped, Step step) {
		this.script.add(new Line(verb, point, new AtomicInteger(skipped), new AtomicInteger(1), step));
	}

	/** Holds the next step up at a point. */
	public Barrier block(Verb verb, Point point) {
		Barrier barrier = new Barrier();
		on(verb, point, 1, barrier::pass);
		return barrier;
	}

	public void heal() {
		this.script.clear();
	}

	public List<Verb> sequence() {
		return List.copyOf(this.sequence);
	}

	public int count(Verb verb) {
		return (int) this.sequence.stream().filter((candidate) -> candidate == verb).count();
	}

	public List<ClaimRequest> claims() {
		return List.copyOf(this.claims);
	}

	public void forget() {
		this.sequence.clear();
		this.claims.clear();
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		this.claims.add(request);
		return step(Verb.CLAIM, () -> this.delegate.claim(request));
	}

	@Override
	public Optional<RecordAdmin> admin() {
		return this.delegate.admin();
	}

	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return step(Verb.LOOK, () -> this.delegate.find(key, fingerprint));
	}

	@Override
	public boolean complete(Completion completion) {
		return step(Verb.COMPLETE, () -> this.delegate.complete(completion));
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		return step(Verb.RELEASE, () -> this.delegate.release(key, claimId));
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return step(Verb.RENEW, () -> {
			play(this.beforeRenewal, claimId);
			boolean renewed = this.delegate.renew(key, claimId, lease);
			play(this.afterRenewal, claimId);
			return renewed;
		});
	}

	@Override
	public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
		play(this.beforeRenewals, renewals);
		return IdempotencyStore.super.renewAll(renewals);
	}

	/** Does something before each renewal of many. */
	public void onRenewAll(Hook<Collection<Renewal>> hook) {
		this.beforeRenewals = hook;
	}

	/** Does something before the renewal of each claim. */
	public void onRenew(Hook<ClaimId> hook) {
		this.beforeRenewal = hook;
	}

	/** Does something after the renewal of each claim. */
	public void onRenewed(Hook<ClaimId> hook) {
		this.afterRenewal = hook;
	}

	private static <T> void play(Hook<T> hook, T with) {
		try {
			hook.run(with);
		}
		catch (Throwable ex) {
			throw ScriptedStore.<RuntimeException>unchecked(ex);
		}
	}

	/** Does something with what the store is asked for. */
	@FunctionalInterface
	public interface Hook<T> {

		void run(T with) throws Throwable;

	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		return step(Verb.ISSUE, () -> this.delegate.issue(token, timeToLive));
	}

	/** In a transaction that only the test knows of. */
	@Override
	public Optional<IdempotencyStore> joining() {
		return Optional.of(this);
	}

	private <T> T step(Verb verb, Supplier<T> call) {
		this.sequence.add(verb);
		play(verb, Point.BEFORE);
		T answer = call.get();
		play(verb, Point.AFTER);
		return answer;
	}

	private void play(Verb verb, Point point) {
		// All count the step, also those that come after one that throws.
		List<Line> due = this.script.stream()
			.filter((line) -> line.verb == verb && line.point == point && line.isDue())
			.toList();
		due.forEach(Line::play);
	}

	@SuppressWarnings("unchecked")
	private static <X extends Throwable> X unchecked(Throwable ex) throws X {
		throw (X) ex;
	}

	public enum Verb {

		CLAIM, LOOK, COMPLETE, RELEASE, RENEW, ISSUE

	}

	public enum Point {

		BEFORE, AFTER

	}

	/** What happens at a point. */
	@FunctionalInterface
	public interface Step {

		void run() throws Throwable;

	}

	/** Where a step is held up. */
	public static final class Barrier {

		private final CountDownLatch reached = new CountDownLatch(1);

		private final CountDownLatch opened = new CountDownLatch(1);

		void pass() throws InterruptedException {
			this.reached.countDown();
			this.opened.await();
		}

		void awaitReached() throws InterruptedException {
			if (!this.reached.await(60, TimeUnit.SECONDS)) {
				throw new IllegalStateException("Nobody came");
			}
		}

		void open() {
			this.opened.countDown();
		}

	}

	private record Line(Verb verb, Point point, AtomicInteger skipped, AtomicInteger rest, Step step) {

		boolean isDue() {
			return this.skipped.getAndUpdate((skipped) -> Math.max(skipped - 1, 0)) == 0
					&& this.rest.getAndUpdate((rest) -> (rest > 0 && rest < ALWAYS) ? rest - 1 : rest) > 0;
		}

		void play() {
			try {
				this.step.run();
			}
			catch (Throwable ex) {
				throw ScriptedStore.<RuntimeException>unchecked(ex);
			}
		}

	}

}
