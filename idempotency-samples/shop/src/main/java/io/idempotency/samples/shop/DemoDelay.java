package io.idempotency.samples.shop;

import java.time.Duration;

import org.springframework.stereotype.Component;

/**
 * Delays a call by the duration in the request header {@value #HEADER} ({@code 3s}), to
 * demonstrate clients that give up. For demonstrations only: in production, do not let
 * callers block threads.
 */
@Component
public class DemoDelay {

	/** Name of the request header. */
	public static final String HEADER = "X-Demo-Delay";

	private static final Duration LONGEST = Duration.ofSeconds(10);

	/** Waits for the requested time, at most ten seconds. */
	public void pause(Duration asked) {
		if (asked.isNegative() || asked.isZero()) {
			return;
		}
		Duration delay = (asked.compareTo(LONGEST) < 0) ? asked : LONGEST;
		try {
			Thread.sleep(delay.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted during the demonstration delay", ex);
		}
	}

}
