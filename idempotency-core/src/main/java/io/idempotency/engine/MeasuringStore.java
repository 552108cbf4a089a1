package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.store.IdempotencyStore;

/**
 * A store that measures what is asked of another one. A driver that asks a form of its
 * own of that other store tells here how long that took. Thread-safe.
 *
 * @hidden
 */
@Internal
public interface MeasuringStore extends IdempotencyStore {

	/** Returns the store that is measured. */
	IdempotencyStore measured();

	/**
	 * Notes a verb that did not go through this store.
	 * @param verb what was asked
	 * @param answered whether the store has answered, and not failed
	 * @param nanos how long it took
	 */
	void took(Verb verb, boolean answered, long nanos);

	/** A verb of the protocol. */
	enum Verb {

		CLAIM, LOOK, COMPLETE, RELEASE, RENEW, ISSUE

	}

}
