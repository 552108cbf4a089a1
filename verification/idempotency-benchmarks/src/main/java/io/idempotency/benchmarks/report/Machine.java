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

}
