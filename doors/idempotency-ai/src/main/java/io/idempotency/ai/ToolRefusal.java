package io.idempotency.ai;

import java.util.Map;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.aop.RefusalMembers;
import org.jspecify.annotations.Nullable;

/**
 * A refusal as it is told to a model, and to the program that runs the model. The message
 * of the exception names operations and properties, so it is for the log.
 *
 * @param text what the model reads
 * @param members what the program reads
 */
record ToolRefusal(String text, Map<String, Object> members) {

	static ToolRefusal of(IdempotencyException refusal) {
		Map<String, Object> members = RefusalMembers.of(refusal);
		return new ToolRefusal(refusal.title() + ". " + advice(refusal, members.get(RefusalMembers.RETRY_AFTER)) + " "
				+ members.toString().replace('{', '[').replace('}', ']'), members);
	}

	private static String advice(IdempotencyException refusal, @Nullable Object seconds) {
		if (refusal instanceof IdempotencyKeyInvalidException) {
			// This message only describes the fault of the request.
			return refusal.getMessage() + ".";
		}
		return switch (refusal.retry()) {
			case "same-key" -> "Nothing was done by this call. Wait " + seconds
					+ " s, then make the same call again, with the same arguments and the same key.";
			case "new-key" ->
				"Nothing was done by this call. Make the first call again with its own arguments, or make "
						+ "this call with a new key.";
			case "never" -> "Do not make this call again: it was made before. Look up what it did.";
			default -> "Nothing was done by this call. Mend the call, and repeat it with the same key if it has to be "
					+ "repeated.";
		};
	}

}
