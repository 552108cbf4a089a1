package io.idempotency.proofs.history;

import org.jspecify.annotations.Nullable;

/**
 * What a client has sent once, and what it was told.
 *
 * @param id its name
 * @param key with which key
 * @param variant which request
 * @param operation to which operation
 * @param sent when, in microseconds
 * @param answered when the answer was there, or the client gave up
 * @param answer the answer, if there was one
 */
record Call(String id, String key, String variant, Operation operation, long sent, long answered,
		@Nullable Reply answer) {

	boolean isFinal() {
		return this.answer != null && this.answer.isFinal();
	}

	/**
	 * An answer.
	 *
	 * @param status its status
	 * @param code the code of a rejection
	 * @param replayed whether it says that it is a replay
	 * @param run the run that it is of
	 * @param key the key that this run had
	 * @param variant the request that this run had
	 * @param body its body
	 * @param whole its status, headers and body
	 */
	record Reply(int status, String code, boolean replayed, String run, String key, String variant, String body,
			String whole) {

		boolean isSuccess() {
			return this.status / 100 == 2;
		}

		/** Whether a client need not ask again. */
		boolean isFinal() {
			return isSuccess() || switch (this.code) {
				case "duplicate", "outcome-unknown", "result-unavailable", "key-reused" -> true;
				default -> false;
			};
		}

	}

}
