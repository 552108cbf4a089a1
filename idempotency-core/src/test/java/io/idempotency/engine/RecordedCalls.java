package io.idempotency.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyOutcome;
import io.idempotency.store.ClaimOrigin;
import org.jspecify.annotations.Nullable;

/** Remembers which calls were observed, where they were current, and how they ended. */
public final class RecordedCalls implements EngineObserver {

	private static final ThreadLocal<List<RecordedCall>> OPEN = ThreadLocal.withInitial(ArrayList::new);

	public final List<RecordedCall> calls = new CopyOnWriteArrayList<>();

	/** Fails at each step from now on. */
	public volatile @Nullable RuntimeException failure;

	/** Where claims are said to come from. */
	public volatile ClaimOrigin origin = ClaimOrigin.UNKNOWN;

	@Override
	public ClaimOrigin origin() {
		return this.origin;
	}

	@Override
	public SeenCall started(GuardedCall call) {
		fail();
		RecordedCall started = new RecordedCall();
		this.calls.add(started);
		return started;
	}

	private void fail() {
		if (this.failure != null) {
			throw this.failure;
		}
	}

	/** The outcomes of the calls, in the order of their starts. */
	public List<@Nullable IdempotencyOutcome> outcomes() {
		return this.calls.stream().<@Nullable IdempotencyOutcome>map((call) -> call.outcome).toList();
	}

	public RecordedCall last() {
		return this.calls.get(this.calls.size() - 1);
	}

	/** The call that is current on this thread. */
	public static @Nullable RecordedCall current() {
		List<RecordedCall> open = OPEN.get();
		return open.isEmpty() ? null : open.get(open.size() - 1);
	}

	public final class RecordedCall implements EngineObserver.SeenCall {

		final AtomicInteger ends = new AtomicInteger();

		volatile @Nullable IdempotencyOutcome outcome;

		volatile @Nullable Throwable failure;

		@Override
		public Scope open() {
			fail();
			OPEN.get().add(this);
			return () -> {
				OPEN.get().remove(OPEN.get().size() - 1);
				fail();
			};
		}

		@Override
		public void ended(IdempotencyOutcome outcome, @Nullable Throwable failure) {
			this.ends.incrementAndGet();
			this.outcome = outcome;
			this.failure = failure;
			fail();
		}

	}

}
