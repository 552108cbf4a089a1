package io.idempotency.proofs.history;

/**
 * A rule that was broken.
 *
 * @param rule which
 * @param key at which key
 * @param from since when the key was as it should have stayed, in microseconds
 * @param to when it was seen that it was not
 * @param what what was seen
 */
record Violation(Rule rule, String key, long from, long to, String what) {

	@Override
	public String toString() {
		return this.rule + " " + this.key + ": " + this.what;
	}

}
