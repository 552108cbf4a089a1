package io.idempotency.proofs.fuzz;

/** Something that must not be. */
final class Violation extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String rule;

	Violation(String rule, String message) {
		super(rule + ": " + message);
		this.rule = rule;
	}

	/** What is broken, in a word or two that are the same for every such violation. */
	String rule() {
		return this.rule;
	}

}
