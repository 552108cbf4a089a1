package io.idempotency.engine;

import java.nio.charset.StandardCharsets;

import io.idempotency.RememberedFailureException;
import io.idempotency.protocol.UnreadableResultException;
import io.idempotency.store.StoredResult;

/**
 * Turns failures into stored results and back. The text has the type in the first line,
 * the HTTP status in the second, and the message in the rest. An object is never stored.
 */
final class RememberedFailures {

	private static final String FORMAT = "failure2";

	private RememberedFailures() {
	}

	/**
	 * Makes the stored form.
	 * @param status the HTTP status that the failure asks for, 0 for none
	 */
	static StoredResult encode(Throwable failure, int status) {
		String text = failure.getClass().getName() + '\n' + status + '\n' + message(failure);
		return new StoredResult(FORMAT, text.getBytes(StandardCharsets.UTF_8));
	}

	private static String message(Throwable failure) {
		String message;
		try {
			message = failure.getMessage();
		}
		catch (RuntimeException ex) {
			// The application's own code has failed; the type is worth remembering
			// without a message.
			message = null;
		}
		return (message != null) ? message : "";
	}

	static boolean isFailure(StoredResult result) {
		return FORMAT.equals(result.format());
	}

	static RememberedFailureException decode(StoredResult result) {
		String text = new String(result.bytes(), StandardCharsets.UTF_8);
		String[] parts = text.split("\n", 3);
		try {
			return new RememberedFailureException(parts[0], parts[2], Integer.parseInt(parts[1]));
		}
		catch (IndexOutOfBoundsException | NumberFormatException ex) {
			throw new UnreadableResultException("A remembered failure that is not one", ex);
		}
	}

}
