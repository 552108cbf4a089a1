package io.idempotency.engine;

/** Elapsed time on this node; never compared with another's. */
@FunctionalInterface
interface Ticker {

	Ticker SYSTEM = System::nanoTime;

	long nanos();

}
