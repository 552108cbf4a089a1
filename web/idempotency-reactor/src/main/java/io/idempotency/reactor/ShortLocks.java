package io.idempotency.reactor;

import io.idempotency.Internal;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Configures BlockHound in tests of an application: any thread may wait for the short
 * locks of the engine. A lock is held for a few statements, and never during a store
 * operation.
 *
 * @hidden
 */
@Internal
public final class ShortLocks implements BlockHoundIntegration {

	private static final String ENGINE = "io.idempotency.engine.";

	/** Called by BlockHound. */
	public ShortLocks() {
	}

	@Override
	public void applyTo(BlockHound.Builder builder) {
		for (String method : new String[] { "signalAll", "leave", "sleep" }) {
			builder.allowBlockingCallsInside(ENGINE + "KeyCondition", method);
		}
		for (String method : new String[] { "wake", "cancel" }) {
			builder.allowBlockingCallsInside(ENGINE + "KeyCondition$Waiter", method);
		}
		for (String method : new String[] { "begins", "ends" }) {
			builder.allowBlockingCallsInside(ENGINE + "CallsInProgress", method);
		}
		// A timer is set or cancelled.
		builder.allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "offer");
		builder.allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "remove");
	}

}
