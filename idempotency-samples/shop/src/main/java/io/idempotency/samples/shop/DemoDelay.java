package io.idempotency.samples.shop;

import java.time.Duration;

import org.springframework.stereotype.Component;

/**
 * Makes a call as slow as the request header {@value #HEADER} asks for ({@code 3s}), so
 * that one can watch clients that lose patience. For demonstrations only: no real service
 * lets its callers hold its threads.
 */
@Component
public class DemoDelay {

	/** Name of the request header. */
	public static final String HEADER = "X-Demo-Delay";

	private static final Duration LONGEST = Duration.ofSeconds(10);

	/** Waits as long as asked, at most ten seconds. */
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
			throw new IllegalStateException("Interrupted while the demonstration was being slow", ex);
		}
	}

}
