package io.idempotency.engine;

import java.util.Arrays;
import java.util.List;

/** The threads of all engines of this JVM. */
final class EngineThreads {

	private EngineThreads() {
	}

	static List<Thread> alive() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("idempotency-"))
			.toList();
	}

	/** Whether every one of them waits for its next task. */
	static boolean areIdle() {
		return alive().stream().allMatch((thread) -> {
			StackTraceElement[] stack = thread.getStackTrace();
			return stack.length == 0
					|| Arrays.stream(stack).anyMatch((frame) -> frame.getMethodName().equals("getTask"));
		});
	}

}
