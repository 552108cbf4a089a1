package io.idempotency.it.faults;

import java.time.Duration;

/**
 * Somebody who lives by a {@link ShiftedClock}.
 */
public interface ShiftedCaller extends AutoCloseable {

	/**
	 * Says what time it is there.
	 * @return milliseconds since 1970
	 */
	long time();

	/**
	 * Connects.
	 * @param url where to
	 * @param user as whom
	 */
	void connect(String url, String user);

	/**
	 * A guarded call.
	 * @param key its key
	 * @param lease its lease
	 * @param retention how long its result is kept
	 * @param action what it does
	 * @return {@code done}, or the simple name of the exception that rejected it
	 */
	String execute(String key, Duration lease, Duration retention, Runnable action);

	@Override
	void close();

}
