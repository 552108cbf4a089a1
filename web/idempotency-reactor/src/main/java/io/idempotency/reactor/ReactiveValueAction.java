package io.idempotency.reactor;

import io.idempotency.Internal;
import io.idempotency.engine.ValueAction;
import io.idempotency.engine.CallOutcome;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Work whose results are values. The values are stored and replayed by the
 * {@link ValueAction} of a blocking caller.
 *
 * @param <T> the result of the guarded work
 * @hidden
 */
@Internal
public abstract class ReactiveValueAction<T> implements ReactiveAction<T> {

	private final ValueAction<T> action;

	/**
	 * Creates the action of one call.
	 * @param action stores and replays the values; its work does not run
	 */
	protected ReactiveValueAction(ValueAction<T> action) {
		this.action = action;
	}

	@Override
	public final boolean isDuplicate(Throwable failure) {
		return this.action.isDuplicate(failure);
	}

	@Override
	public final @Nullable T replay(StoredResult result) throws Throwable {
		return this.action.replay(result);
	}

	@Override
	public final @Nullable T replayRecovered(T value) {
		return this.action.replayRecovered(value);
	}

	@Override
	public final CallOutcome returned(@Nullable T value, boolean recovered) {
		return this.action.returned(value, recovered);
	}

	@Override
	public final CallOutcome threw(Throwable failure) {
		return this.action.threw(failure);
	}

	@Override
	public CallOutcome gaveUp(Throwable failure) {
		return this.action.gaveUp(failure);
	}

}
