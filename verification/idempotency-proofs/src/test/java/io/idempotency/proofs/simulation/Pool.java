package io.idempotency.proofs.simulation;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Real threads, which all simulations share because threads are expensive to make. */
final class Pool {

	private static final ExecutorService THREADS = Executors.newCachedThreadPool((task) -> {
		Thread thread = new Thread(task, "simulated");
		thread.setDaemon(true);
		return thread;
	});

	private Pool() {
	}

	static void run(Runnable task, Baton baton) {
		THREADS.execute(() -> {
			baton.thread = Thread.currentThread();
			task.run();
		});
	}

}
