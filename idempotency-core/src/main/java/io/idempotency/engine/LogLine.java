package io.idempotency.engine;

import io.idempotency.Internal;

/**
 * Writes lines of the log. An appender may be broken in any way, and the call whose line
 * it is goes on: its claim still ends, and its caller gets an answer.
 *
 * @hidden
 */
@Internal
public final class LogLine {

	private LogLine() {
	}

	/**
	 * Writes a line.
	 * @param line writes it
	 * @return whether the log has taken it; errors too are no reason to throw
	 */
	public static boolean write(Runnable line) {
		try {
			line.run();
			return true;
		}
		catch (Throwable ex) {
			return false;
		}
	}

}
