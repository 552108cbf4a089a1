package io.idempotency.engine;

import java.util.function.BooleanSupplier;

import io.idempotency.store.Completion;

/**
 * A completion that the store could not do at once; beats go on meanwhile. Never used by
 * two threads at the same time.
 */
final class OutstandingCompletion implements BooleanSupplier, Background.Answered {

	private static final int MAX_FAILURES_OF_RESULT = 5;

	private final Execution execution;

	private final GuardedCall call;

	private final Events events;

	private Completion completion;

	private int failuresOfResult;

	OutstandingCompletion(Execution execution, GuardedCall call, Completion completion, Events events) {
		this.execution = execution;
		this.call = call;
		this.completion = completion;
		this.events = events;
	}

	@Override
	public boolean getAsBoolean() {
		try {
			return this.call.store().complete(this.completion);
		}
		catch (Throwable ex) {
			if (this.completion.type() == Completion.Type.RESULT && isFailureOfResult()) {
				this.events.resultNotStored(this.call.operation(), ex);
				this.completion = Completion.tombstone(this.completion.claim(), this.completion.fingerprint(),
						this.completion.retention());
			}
			throw ex;
		}
	}

	/**
	 * Whether the store is up and, time after time, does not take this result: one that
	 * is too large for it would keep the key in progress for the whole retention.
	 */
	private boolean isFailureOfResult() {
		int failures = this.failuresOfResult + 1;
		this.failuresOfResult = 0;
		boolean up = this.call.store()
			.renew(this.completion.claim().key(), this.completion.claim().id(), this.call.policy().lease());
		if (up) {
			this.failuresOfResult = failures;
		}
		return up && failures >= MAX_FAILURES_OF_RESULT;
	}

	@Override
	public void answered(boolean accepted) {
		this.execution.written(this.completion, accepted);
	}

	@Override
	public void gaveUp() {
		this.execution.stopRenewing();
	}

}
