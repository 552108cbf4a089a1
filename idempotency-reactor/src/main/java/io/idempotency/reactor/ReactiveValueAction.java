package io.idempotency.reactor;

import io.idempotency.Internal;
import io.idempotency.engine.ValueAction;
import io.idempotency.protocol.Ending;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Work whose results are values, which are kept, and given to duplicates, as the action
 * of a caller that may block says.
 *
 * @param <T> the result of the guarded work
 * @hidden
 */
@Internal
public abstract class ReactiveValueAction<T> implements ReactiveAction<T> {

	private final ValueAction<T> values;

	/**
	 * Creates the action of one call.
	 * @param values keeps and gives the values; it is not run
	 */
	protected ReactiveValueAction(ValueAction<T> values) {
		this.values = values;
	}

	@Override
	public final boolean isDuplicate(Throwable failure) {
		return this.values.isDuplicate(failure);
	}

	@Override
	public final @Nullable T replay(StoredResult result) throws Throwable {
		return this.values.replay(result);
	}

	@Override
	public final @Nullable T replayRecovered(T value) {
		return this.values.replayRecovered(value);
	}

	@Override
	public final Ending returned(@Nullable T value, boolean recovered) {
		return this.values.returned(value, recovered);
	}

	@Override
	public final Ending threw(Throwable failure) {
		return this.values.threw(failure);
	}

	@Override
	public Ending gaveUp(Throwable failure) {
		return this.values.gaveUp(failure);
	}

}
