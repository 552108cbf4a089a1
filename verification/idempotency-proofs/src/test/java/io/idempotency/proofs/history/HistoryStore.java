package io.idempotency.proofs.history;

import java.time.Duration;
import java.util.List;

import io.idempotency.it.servers.OtherJvm.Stack;

/** A store of several nodes, and what can happen to it. */
interface HistoryStore extends AutoCloseable {

	/** What the report calls it. */
	String title();

	/** The lease of its claims: long enough for what must be borne. */
	Duration lease();

	/** Whether a fail-over may lose what was acknowledged. */
	default boolean forgets() {
		return false;
	}

	/** What is called. */
	List<Operation> operations();

	/** What can go wrong with it, apart from what can with nodes. */
	List<FaultKind> faults();

	/**
	 * Which stack a node has.
	 * @param node the node
	 * @return the stack
	 */
	default Stack stack(String node) {
		return Stack.SERVLET;
	}

	/**
	 * How a node finds it.
	 * @param node the node
	 * @return the properties
	 */
	List<String> properties(String node);

	/**
	 * Does harm, and mends it.
	 * @param fault one of {@link #faults()}
	 * @param node the node that suffers, if it is not all of them
	 * @param millis how long
	 */
	void inflict(FaultKind fault, String node, long millis);

	/** Makes it ready for the next of {@link #faults()}. */
	default void mend() {
	}

	/**
	 * Writes down what was committed.
	 * @param journal where
	 */
	default void tellEffects(Journal journal) {
	}

	@Override
	void close();

}
