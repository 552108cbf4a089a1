package io.idempotency.benchmarks.report;

/**
 * A part of the run.
 *
 * @param name its name
 * @param measuring what it does
 */
record Section(String name, Measuring measuring) {

	/** Measures, and writes what came out. */
	@FunctionalInterface
	interface Measuring {

		void into(Page page) throws Exception;

	}

}
