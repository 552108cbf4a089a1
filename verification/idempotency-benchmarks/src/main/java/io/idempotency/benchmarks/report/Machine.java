package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

import com.sun.management.OperatingSystemMXBean;

/**
 * Where is measured.
 *
 * @param load how busy the machine was when the run began
 * @param time the counters of its processors then
 */
record Machine(double load, StolenTime time) {

	private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

	static Machine now() throws IOException {
		return new Machine(ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(), StolenTime.now());
	}

	/** Says it in one line. */
	String describe() throws IOException {
		OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
		return String.format(Locale.ROOT,
				"%d × %s, %.0f GB, %s %s; load %.2f when it began, %.1f %% of the processors taken by others meanwhile",
				system.getAvailableProcessors(), processor(), system.getTotalMemorySize() / 1e9, system.getName(),
				system.getVersion(), this.load, 100 * StolenTime.now().since(this.time));
	}

	private static String processor() throws IOException {
		if (!Files.isReadable(PROCESSORS)) {
			return System.getProperty("os.arch");
		}
		try (var lines = Files.lines(PROCESSORS)) {
			return lines.filter((line) -> line.startsWith("model name"))
				.map((line) -> line.substring(line.indexOf(':') + 1).strip())
				.findFirst()
				.orElse(System.getProperty("os.arch"));
		}
	}

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

}
