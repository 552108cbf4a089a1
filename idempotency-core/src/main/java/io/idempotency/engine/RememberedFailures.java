package io.idempotency.engine;

import java.nio.charset.StandardCharsets;

import io.idempotency.RememberedFailureException;
import io.idempotency.store.StoredResult;

/**
 * Failures as stored results: type and message, one line and the rest; never an object.
 */
final class RememberedFailures {

	private static final String FORMAT = "failure1";

	private RememberedFailures() {
	}

	static StoredResult encode(Throwable failure) {
		String text = failure.getClass().getName() + '\n' + message(failure);
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
		return FORMAT.equals(result.format());
	}

	static RememberedFailureException decode(StoredResult result) {
		String text = new String(result.bytes(), StandardCharsets.UTF_8);
		int end = text.indexOf('\n');
		if (end < 0) {
			throw new UnreadableResultException("A remembered failure without a type");
		}
		return new RememberedFailureException(text.substring(0, end), text.substring(end + 1));
	}

}
