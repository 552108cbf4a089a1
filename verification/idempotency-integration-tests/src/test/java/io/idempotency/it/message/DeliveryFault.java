package io.idempotency.it.message;

/** What goes wrong in the middle of deliveries. */
enum DeliveryFault {

	/** SIGKILL of a consumer, which is started again. */
	KILL,

	/** SIGTERM of a consumer, which is started again. */
	STOP,

	/**
	 * A consumer stands still for longer than its broker waits for it, and shorter than a
	 * lease: its partitions move while it lives.
	 */
	STAND_STILL,

	/** SIGKILL of the store, which has all its writes on disk and is started again. */
	KILL_STORE,

	/** The store does not answer, shorter than a lease. */
	STORE_STANDS_STILL

}
