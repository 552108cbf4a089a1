package io.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

import io.idempotency.RememberedFailureException;
import io.idempotency.protocol.ToldFailure;
import io.idempotency.protocol.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Turns failures into stored results and back. The text has the type in the first line,
 * the HTTP status in the second, with what was told behind it, and the message in the
 * rest. An object is never stored.
 */
final class RememberedFailureCodec {

	private static final String FORMAT = "failure2";

	private RememberedFailureCodec() {
	}

	/**
	 * Makes the stored form.
	 * @param status the HTTP status that the failure asks for, 0 for none
	 * @param told what the door tells its client, {@code null} for nothing of its own
	 */
	static StoredResult encode(Throwable failure, int status, @Nullable String told) {
		String behind = (told != null) ? ' ' + Base64.getEncoder().encodeToString(told.getBytes(StandardCharsets.UTF_8))
				: "";
		String text = failure.getClass().getName() + '\n' + status + behind + '\n' + message(failure);
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
			String[] answer = parts[1].split(" ", 2);
			RememberedFailureException failure = new RememberedFailureException(parts[0], parts[2],
					Integer.parseInt(answer[0]));
			if (answer.length > 1) {
				failure.initCause(
						new ToldFailure(new String(Base64.getDecoder().decode(answer[1]), StandardCharsets.UTF_8)));
			}
			return failure;
		}
		catch (IndexOutOfBoundsException | IllegalArgumentException ex) {
			throw new UnreadableResultException("A remembered failure that is not one", ex);
		}
	}

}
