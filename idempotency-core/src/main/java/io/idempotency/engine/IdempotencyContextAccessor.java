package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.Internal;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Lets Micrometer's context propagation carry the context of a guarded call: between
 * threads, and between a thread and a Reactor context. Found by {@code ServiceLoader}, so
 * that it is loaded only where that library is.
 *
 * @hidden
 */
@Internal
public final class IdempotencyContextAccessor implements ThreadLocalAccessor<IdempotencyContext> {

	/**
	 * Is made by Micrometer.
	 */
	public IdempotencyContextAccessor() {
	}

	/** {@inheritDoc} The one that the Reactor context of guarded work has. */
	@Override
	public Object key() {
		return IdempotencyContext.class;
	}

	@Override
	public @Nullable IdempotencyContext getValue() {
		return IdempotencyContextHolder.get();
	}

	@Override
	public void setValue(IdempotencyContext context) {
		// What was bound before is remembered, and bound again, by the library.
		IdempotencyContextHolder.bind(context);
	}

	@Override
	public void setValue() {
		IdempotencyContextHolder.bind(null);
	}

}
