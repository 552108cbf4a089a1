package io.idempotency.reactor;

import io.idempotency.Internal;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, in the tests of an application, which locks of the engine may be
 * waited for by any thread: each is held for a few lines, and never while a store is
 * asked.
 *
 * @hidden
 */
@Internal
public final class ShortLocks implements BlockHoundIntegration {

	private static final String ENGINE = "io.idempotency.engine.";

	/**
	 * Is made by BlockHound.
	 */
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
		// A timer is set, or cancelled.
		builder.allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "offer");
		builder.allowBlockingCallsInside("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "remove");
	}

}
