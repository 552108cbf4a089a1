package io.idempotency.store;

/**
 * The states of a record, each with the letter that is stored in a table.
 */
public enum RecordState {

	/** The record does not exist. This letter is never stored. */
	ABSENT("-"),

	/** The record is an unused token. */
	ISSUED("I"),

	/** A call holds a claim. */
	RUNNING("R"),

	/** A call holds a claim that it took over after the lease of the owner expired. */
	TAKEN_OVER("A"),

	/**
	 * A claim was taken over and then released. Its lease expired, and no call owns it.
	 */
	ORPHANED("N"),

	/** The effect is committed, and the result is not attached yet. */
	COMMITTED("X"),

	/** The call completed, and its result is stored. */
	DONE("D"),

	/** The call completed without a stored result. */
	WITHOUT_RESULT("T"),

	/** The record is a claim that was final immediately. */
	ONCE("O");

	private final String letter;

	RecordState(String letter) {
		this.letter = letter;
	}

	/**
	 * Returns the letter that is stored in a table.
	 * @return one letter
	 */
	public String letter() {
		return this.letter;
	}

}
