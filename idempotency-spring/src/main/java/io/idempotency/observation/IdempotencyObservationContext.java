package io.idempotency.observation;

import java.util.Iterator;

import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.store.ClaimOrigin;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/**
 * The facts about one guarded call from which an {@link IdempotencyObservationConvention}
 * creates names and tags. They contain no key, caller or body, so that these cannot
 * become a tag by accident.
 *
 * @since 0.1.0
 */
public class IdempotencyObservationContext extends Observation.Context {

	private final String operation;

	private final IdempotencyMode mode;

	private final String store;

	private volatile @Nullable IdempotencyOutcome outcome;

	private volatile @Nullable ClaimOrigin first;

	/**
	 * The key values from the convention, which creates them once for all calls. The map
	 * of the superclass would sort them again for each handler that reads them.
	 */
	private volatile KeyValues lowCardinality = KeyValues.empty();

	/**
	 * Creates the context of a call that starts.
	 * @param operation name of the operation
	 * @param mode the mode of the operation
	 * @param store the type of the store, such as {@code redis}
	 */
	public IdempotencyObservationContext(String operation, IdempotencyMode mode, String store) {
		this.operation = operation;
		this.mode = mode;
		this.store = store;
	}

	/**
	 * Returns the name of the operation.
	 * @return the operation
	 */
	public String operation() {
		return this.operation;
	}

	/**
	 * Returns the mode of the operation.
	 * @return the mode
	 */
	public IdempotencyMode mode() {
		return this.mode;
	}

	/**
	 * Returns the type of the store of the record.
	 * @return the type, such as {@code redis}, {@code jdbc} or {@code memory}
	 */
	public String store() {
		return this.store;
	}

	/**
	 * Returns the outcome of the call.
	 * @return the outcome, {@code null} until the end
	 */
	public @Nullable IdempotencyOutcome outcome() {
		return this.outcome;
	}

	/**
	 * Returns the origin of the first call, if this call receives its result.
	 * @return the origin of the claim of the first call, {@code null} if the call is not
	 * a replay
	 */
	public @Nullable ClaimOrigin first() {
		return this.first;
	}

	/**
	 * Sets the origin of the first call.
	 * @param first the origin of its claim
	 */
	public void first(ClaimOrigin first) {
		this.first = first;
	}

	/**
	 * Sets the outcome of the call.
	 * @param outcome the outcome
	 */
	public void outcome(IdempotencyOutcome outcome) {
		this.outcome = outcome;
	}

	@Override
	public Observation.Context addLowCardinalityKeyValue(KeyValue keyValue) {
		return addLowCardinalityKeyValues(KeyValues.of(keyValue));
	}

	@Override
	public synchronized Observation.Context addLowCardinalityKeyValues(KeyValues keyValues) {
		KeyValues before = this.lowCardinality;
		this.lowCardinality = haveSameKeys(before, keyValues) ? keyValues : before.and(keyValues);
		return this;
	}

	@Override
	public synchronized Observation.Context removeLowCardinalityKeyValue(String keyName) {
		this.lowCardinality = KeyValues
			.of(this.lowCardinality.stream().filter((value) -> !value.getKey().equals(keyName)).toList());
		return this;
	}

	@Override
	public KeyValues getLowCardinalityKeyValues() {
		return this.lowCardinality;
	}

	@Override
	public @Nullable KeyValue getLowCardinalityKeyValue(String key) {
		for (KeyValue value : this.lowCardinality) {
			if (value.getKey().equals(key)) {
				return value;
			}
		}
		return null;
	}

	private static boolean haveSameKeys(KeyValues one, KeyValues other) {
		Iterator<KeyValue> left = one.iterator();
		Iterator<KeyValue> right = other.iterator();
		while (left.hasNext() && right.hasNext()) {
			if (!left.next().getKey().equals(right.next().getKey())) {
				return false;
			}
		}
		return left.hasNext() == right.hasNext();
	}

}
