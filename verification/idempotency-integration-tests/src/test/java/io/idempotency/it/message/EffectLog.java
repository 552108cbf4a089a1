package io.idempotency.it.message;

import java.util.List;

/** What listeners in several JVMs did, where it survives their end. */
interface EffectLog {

	/** Adds a line at once. */
	void add(String line);

	/** The lines, in the order in which they were added. */
	List<String> lines();

}
