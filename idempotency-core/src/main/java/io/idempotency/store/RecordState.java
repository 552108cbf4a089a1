package io.idempotency.store;

/**
 * The states of a record, each with the letter that a table keeps for it.
 */
public enum RecordState {

	/** There is no record; no store keeps this letter. */
	ABSENT("-"),

	/** The record is a token that was issued and not used. */
	ISSUED("I"),

	/** A call holds a claim. */
	RUNNING("R"),

	/** A call holds a claim that it took over from an owner whose lease ran out. */
	TAKEN_OVER("A"),

	/**
	 * A claim was taken over and then released: its lease is over, and no call owns it.
	 */
	ORPHANED("N"),

	/** The effect is committed, and the result is not attached yet. */
	COMMITTED("X"),

	/** The call is done, and its result is kept. */
	DONE("D"),

	/** The call is done, and its result is not kept. */
	WITHOUT_RESULT("T"),

	/** The record is a claim that was final at once. */
	ONCE("O");

	private final String letter;

	RecordState(String letter) {
		this.letter = letter;
	}

	/**
	 * Returns the letter that a table keeps.
	 * @return one letter
	 */
	public String letter() {
		return this.letter;
	}

}
