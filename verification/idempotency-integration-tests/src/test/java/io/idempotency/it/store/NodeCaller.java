package io.idempotency.it.store;

import java.time.Duration;
import java.util.Objects;

import io.idempotency.it.faults.ShiftedCaller;
import io.idempotency.IdempotencyException;
import org.jspecify.annotations.Nullable;

/**
 * A node that may live by another clock.
 */
public abstract class NodeCaller implements ShiftedCaller {

	private @Nullable StoreNode<?> node;

	/**
	 * Makes the node.
	 * @param url where its store is
	 * @param user as whom
	 * @return the node
	 */
	protected abstract StoreNode<?> node(String url, String user);

	@Override
	public final long time() {
		return System.currentTimeMillis();
	}

	@Override
	public final void connect(String url, String user) {
		this.node = node(url, user);
	}

	@Override
	public final String execute(String key, Duration lease, Duration retention, Runnable action) {
		try {
			return String.valueOf(Objects.requireNonNull(this.node)
				.call(key)
				.lease(lease)
				.retention(retention)
				.execute(String.class, () -> {
					action.run();
					return "done";
				}));
		}
		catch (IdempotencyException rejection) {
			return rejection.getClass().getSimpleName();
		}
	}

	@Override
	public final void close() {
		if (this.node != null) {
			this.node.close();
		}
	}

}
