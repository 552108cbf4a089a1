package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How much of the processors the host of a virtual machine gave to others, out of the
 * counters of Linux. Nothing where there are none.
 */
record StolenTime(long stolen, long all) {

	private static final Path COUNTERS = Path.of("/proc/stat");

	/**
	 * The place of the stolen time in the first line, after the word "cpu" and two
	 * blanks.
	 */
	private static final int STOLEN = 7;

	static StolenTime now() throws IOException {
		if (!Files.isReadable(COUNTERS)) {
			return new StolenTime(0, 1);
		}
		try (var lines = Files.lines(COUNTERS)) {
			String[] counters = lines.findFirst().orElseThrow().substring("cpu  ".length()).split(" ");
			long all = 0;
			for (String counter : counters) {
				all += Long.parseLong(counter);
			}
			return new StolenTime(Long.parseLong(counters[STOLEN]), all);
		}
	}

	/** The part of all time since then that was stolen, 0 to 1. */
	double since(StolenTime then) {
		return (this.all == then.all) ? 0 : (double) (this.stolen - then.stolen) / (this.all - then.all);
	}

}
