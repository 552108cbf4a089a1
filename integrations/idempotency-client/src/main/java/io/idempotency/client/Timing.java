package io.idempotency.client;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;

/** Time and chance, so that tests can decide about both. */
interface Timing {

	/** The clocks of the JVM. */
	Timing SYSTEM = new Timing() {

		@Override
		public long nanoTime() {
			return System.nanoTime();
		}

		@Override
		public Instant now() {
			return Instant.now();
		}

		@Override
		public double chance() {
			return ThreadLocalRandom.current().nextDouble();
		}

		@Override
		public void pause(Duration duration) throws InterruptedException {
			Thread.sleep(duration.toMillis(), duration.toNanosPart() % 1_000_000);
		}

	};

	/** A clock that never steps, for how much time has passed. */
	long nanoTime();

	/** The time of day, for dates that a server sends. */
	Instant now();

	/** A number from 0 to 1, without 1. */
	double chance();

	void pause(Duration duration) throws InterruptedException;

}
