package io.idempotency.store.jdbc;

import java.sql.SQLException;

/**
 * States of a record, each with the letter that the table keeps.
 */
enum RecordState {

	/** A token that was issued and not used. */
	ISSUED("I"),

	/** A claim. */
	RUNNING("R"),

	/** A claim that was taken over from an owner whose lease ran out. */
	TAKEN_OVER("A"),

	/** A claim that was taken over and then released. */
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
	 * Reads a letter.
	 * @throws SQLException if it is a newer version's: such a record is not "absent"
	 */
	static RecordState of(String letter) throws SQLException {
		for (RecordState state : values()) {
			if (state.letter.equals(letter)) {
				return state;
			}
		}
		throw new SQLException("A record in state '" + letter + "' cannot be read by this version");
	}

	String letter() {
		return this.letter;
	}

}
