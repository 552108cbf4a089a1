package io.idempotency.benchmarks.application;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Tells what the application has used up since it began. */
@RestController
class MeterController {

	private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

	private final ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

	private final CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();

	/**
	 * Nanoseconds of processors, bytes that the threads that are alive have allocated,
	 * and milliseconds of the compiler.
	 */
	@GetMapping("/meter")
	String meter() {
		long allocated = Arrays.stream(this.threads.getThreadAllocatedBytes(this.threads.getAllThreadIds()))
			.filter((bytes) -> bytes > 0)
			.sum();
		return this.process.getProcessCpuTime() + " " + allocated + " " + this.compiler.getTotalCompilationTime();
	}

}
