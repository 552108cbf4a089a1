package io.idempotency.ai;

import java.util.Map;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.interceptor.ProblemProperties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rejection as it is reported to a model, and to the program that runs the model. The
 * message of the exception names operations and properties, so it is for the log.
 *
 * @param text the text for the model
 * @param members the properties for the program, empty for a fault that no call can fix
 */
record ToolRejection(String text, Map<String, Object> members) {

	private static final Logger logger = LoggerFactory.getLogger(ToolRejection.class);

	/**
	 * Creates the reported rejection and logs the details that it omits.
	 * @param failure the rejection, or the fault for which a call could not be guarded
	 * @param untouched whether the tool itself was rejected before it ran; otherwise a
	 * service may have been rejected after the tool did something
	 */
	static ToolRejection of(RuntimeException failure, boolean untouched) {
		if (!(failure instanceof IdempotencyException rejection)) {
			logger.error("[IDEM-405] A tool call could not be guarded: the model receives an error without "
					+ "details. Fix the cause that the exception below names.", failure);
			return new ToolRejection(
					"The call could not be guarded. " + (untouched ? "Nothing was done." : "A part of it may be done."),
					Map.of());
		}
		logger.debug("Rejected a call of '{}' with {}: {}", rejection.operation(), rejection.code(),
				rejection.getMessage());
		Map<String, Object> members = ProblemProperties.of(rejection);
		return new ToolRejection(
				rejection.title() + ". " + advice(rejection, untouched, members.get(ProblemProperties.RETRY_AFTER))
						+ " " + members.toString().replace('{', '[').replace('}', ']'),
				members);
	}

	private static String advice(IdempotencyException rejection, boolean untouched, @Nullable Object seconds) {
		if (rejection instanceof IdempotencyKeyInvalidException) {
			// This message only describes the fault of the request.
			return rejection.getMessage() + ".";
		}
		boolean unknown = rejection instanceof IdempotencyStoreUnavailableException unavailable
				&& unavailable.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED;
		String done = unknown ? "The outcome of this call is unknown. " : untouched ? "Nothing was done by this call. "
				: "This call or a part of it was rejected, and other parts of it may be done. ";
		return switch (rejection.retry()) {
			case SAME_KEY -> done + "Wait " + seconds
					+ " s, then make the same call again, with the same arguments and the same key.";
			case NEW_KEY -> done
					+ (untouched ? "Make the first call again with its own arguments, or make this call with a new key."
							: "Look up what was done before you make this call with a new key.");
			case NEVER ->
				(untouched ? "" : done) + "Do not make this call again: it was made before. Look up what it did.";
			case FIX_REQUEST -> done + "Correct the call. If you repeat it, use the same key.";
		};
	}

}
