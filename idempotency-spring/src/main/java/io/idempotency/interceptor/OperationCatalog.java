package io.idempotency.interceptor;

import java.util.Collection;

import io.idempotency.Internal;

/**
 * Knows operations of the application, wherever they are described. Thread-safe.
 *
 * @hidden
 */
@Internal
public interface OperationCatalog {

	/** Returns the operations that are known by now: after the start all of them. */
	Collection<IdempotentOperation> operations();

}
