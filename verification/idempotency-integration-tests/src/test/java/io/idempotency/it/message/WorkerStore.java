package io.idempotency.it.message;

import java.util.List;

/** Where consumers in JVMs of their own keep their records, and write what they did. */
interface WorkerStore extends AutoCloseable {

	/**
	 * What makes an application use the store.
	 * @return the properties
	 */
	List<String> properties();

	/** What the consumers did. */
	EffectLog effects();

	@Override
	void close();

}
