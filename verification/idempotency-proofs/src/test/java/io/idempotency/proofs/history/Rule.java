package io.idempotency.proofs.history;

/** What must never be seen. */
enum Rule {

	DOUBLE_RUN("a run while another one runs or after it has succeeded, without a fault that allows it"),

	EARLY("a claim was taken over before its lease could be over"),

	LOST("a result that was known is gone"),

	FOREIGN("an answer of another key or request"),

	UNTRUE("an answer that no run has returned"),

	DIFFERENT("two answers to one key that differ"),

	DOUBLE_EFFECT("work that is committed twice, or answered and not committed"),

	REJECTED("a rejection without a reason"),

	ENDLESS("a key whose callers never get a final answer");

	private final String text;

	Rule(String text) {
		this.text = text;
	}

	String text() {
		return this.text;
	}

}
