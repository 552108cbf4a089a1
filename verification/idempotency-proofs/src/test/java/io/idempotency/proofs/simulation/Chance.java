package io.idempotency.proofs.simulation;

/**
 * Random numbers that depend on nothing but the seed and the thing that they are for. So
 * a call that is left out changes nothing for the other calls.
 *
 * @param seed the seed
 */
record Chance(long seed) {

	double of(Object... what) {
		long hash = this.seed;
		for (Object part : what) {
			hash = mix(hash + 0x9E3779B97F4A7C15L + part.hashCode());
		}
		return (mix(hash) >>> 11) * 0x1.0p-53;
	}

	boolean hits(double probability, Object... what) {
		return of(what) < probability;
	}

	/** Returns a number from one bound to the other. */
	long between(long least, long most, Object... what) {
		return least + (long) ((most - least) * of(what));
	}

	private static long mix(long number) {
		long mixed = (number ^ number >>> 30) * 0xBF58476D1CE4E5B9L;
		mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
		return mixed ^ mixed >>> 31;
	}

}
