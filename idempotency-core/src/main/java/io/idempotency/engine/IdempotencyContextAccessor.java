package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.Internal;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Propagates the context of a guarded call with Micrometer's context propagation: between
 * threads, and between a thread and a Reactor context. Found by {@code ServiceLoader}, so
 * that it is loaded only if that library is present.
 *
 * @hidden
 */
@Internal
public final class IdempotencyContextAccessor implements ThreadLocalAccessor<IdempotencyContext> {

	/**
	 * Creates an accessor. Micrometer calls this constructor.
	 */
	public IdempotencyContextAccessor() {
	}

	/** Returns the key of the context in the Reactor context of guarded work. */
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
		// The library stores the previous context and binds it again.
		IdempotencyContextHolder.bind(context);
	}

	@Override
	public void setValue() {
		IdempotencyContextHolder.bind(null);
	}

}
