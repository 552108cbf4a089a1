package io.idempotency.store.record;

/**
 * States of a record, each with the letter that a table keeps.
 */
public enum RecordState {

	/** There is no record; nothing keeps its letter. */
	ABSENT("-"),

	/** A token that was issued and not used. */
	ISSUED("I"),

	/** A claim. */
	RUNNING("R"),

	/** A claim that was taken over from an owner whose lease ran out. */
	TAKEN_OVER("A"),

	/** A claim that was taken over and then released: its lease is over. */
	NOBODYS("N"),

	/** Committed, result not attached yet. */
	EXECUTED("X"),

	/** Done, with its result. */
	RESULT("D"),

	/** Done, result not kept. */
	TOMBSTONE("T"),

	/** A claim that was final at once. */
	ONCE("O");

	private final String letter;

	RecordState(String letter) {
		this.letter = letter;
	}

	/**
	 * The letter that a table keeps.
	 * @return one letter
	 */
	public String letter() {
		return this.letter;
	}

}
