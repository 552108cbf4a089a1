package io.idempotency.it.message;

import java.util.List;

/**
 * A broker with two queues for the consumers of one test, which have JVMs of their own.
 */
interface WorkerBroker extends AutoCloseable {

	/** What {@link #keptQueue()} adds to the name. */
	String KEPT = "-kept";

	/** The main class of a consumer. */
	Class<?> consumer();

	/**
	 * What makes a consumer listen to the broker.
	 * @return the properties
	 */
	List<String> properties();

	/** The queue or topic, which is the name of the consumer group, too. */
	String queue();

	/** The queue of the listener that can look its work up. */
	default String keptQueue() {
		return queue() + KEPT;
	}

	/** Sends messages in this order; consumers that are idle get one after the other. */
	void send(String queue, List<String> messages);

	/** Whether each of so many consumers has a part of both queues. */
	boolean isConsumedBy(int consumers) throws Exception;

	/** Whether no message waits for a consumer in either queue. */
	boolean isDrained() throws Exception;

	@Override
	void close();

}
