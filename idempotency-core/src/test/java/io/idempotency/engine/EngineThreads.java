package io.idempotency.engine;

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

}
