package io.idempotency.engine;

import java.nio.charset.StandardCharsets;

import io.idempotency.RememberedFailureException;
import io.idempotency.store.StoredResult;

/**
 * Failures as stored results: type, HTTP status and message, a line each and the rest;
 * never an object.
 */
final class RememberedFailures {

	private static final String FORMAT = "failure2";

	/** Without a status. */
	private static final String OLD_FORMAT = "failure1";

	private RememberedFailures() {
	}

	/**
	 * Makes the stored form.
	 * @param status the HTTP status that it asks for, 0 for none
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
			// The application's own code: the type is worth remembering without it.
			message = null;
		}
		return (message != null) ? message : "";
	}

	static boolean isFailure(StoredResult result) {
		return FORMAT.equals(result.format()) || OLD_FORMAT.equals(result.format());
	}

	static RememberedFailureException decode(StoredResult result) {
		String text = new String(result.bytes(), StandardCharsets.UTF_8);
		boolean old = OLD_FORMAT.equals(result.format());
		String[] parts = text.split("\n", old ? 2 : 3);
		try {
			return old ? new RememberedFailureException(parts[0], parts[1])
					: new RememberedFailureException(parts[0], parts[2], Integer.parseInt(parts[1]));
		}
		catch (IndexOutOfBoundsException | NumberFormatException ex) {
			throw new UnreadableResultException("A remembered failure that is not one", ex);
		}
	}

}
