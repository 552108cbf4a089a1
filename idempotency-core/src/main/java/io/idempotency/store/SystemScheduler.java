package io.idempotency.store;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A scheduler that uses the time and the threads of this JVM.
 */
final class SystemScheduler implements Scheduler {

	private static final Logger logger = LoggerFactory.getLogger(Scheduler.class);

	private static final long IDLE_SECONDS = 10;

	private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1, named("timer"));

	private final Queue<ExecutorService> pools = new ConcurrentLinkedQueue<>();

	private final Executor failures = threads("failures", 1);

	private volatile boolean closed;

	SystemScheduler() {
		this.timers.setRemoveOnCancelPolicy(true);
		this.timers.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
	}

	/**
	 * Creates threads that do not reference the starting call. The application of that
	 * call may be undeployed later, so a thread must not reference its class loader or
	 * the thread-locals of the request.
	 */
	private static ThreadFactory named(String name) {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			Thread thread = new SchedulerThread(task, "idempotency-" + name + "-" + number.incrementAndGet());
			thread.setContextClassLoader(SystemScheduler.class.getClassLoader());
			thread.setDaemon(true);
			return thread;
		};
	}

	@Override
	public long nanos() {
		return System.nanoTime();
	}

	@Override
	public Timer schedule(Runnable task, Duration delay) {
		startTimerThread();
		// A blocking appender would delay all timers, so another thread logs.
		Future<?> future = this.timers.schedule(() -> run(task, this.failures), TimeUnit.NANOSECONDS.convert(delay),
				TimeUnit.NANOSECONDS);
		return () -> future.cancel(false);
	}

	/** Without a thread, a timer would stay in the queue and never run. */
	private void startTimerThread() {
		try {
			this.timers.prestartCoreThread();
		}
		catch (OutOfMemoryError noThread) {
			throw new RejectedExecutionException("The timer thread cannot be started", noThread);
		}
	}

	/** An executor would store the failure in a future that is never read. */
	private static void run(Runnable task, Executor log) {
		try {
			task.run();
		}
		catch (Throwable ex) {
			log.execute(() -> logger.error("[IDEM-115] A background task failed: renewals or store writes may be "
					+ "delayed. Check the exception below, and the memory and threads of the JVM. Otherwise report "
					+ "a defect.", ex));
		}
	}

	@Override
	public Executor threads(String name, int most) {
		Idle idle = new Idle();
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, most, IDLE_SECONDS, TimeUnit.SECONDS, idle, named(name),
				idle);
		this.pools.add(pool);
		if (this.closed) {
			pool.shutdownNow();
		}
		return (task) -> execute(pool, idle, () -> run(task, Runnable::run));
	}

	/** A pool that has a thread does not need another thread to accept work. */
	private static void execute(ThreadPoolExecutor pool, Idle idle, Runnable task) {
		try {
			pool.execute(task);
		}
		catch (OutOfMemoryError noThread) {
			if (pool.getPoolSize() == 0) {
				throw new RejectedExecutionException("A thread cannot be started", noThread);
			}
			idle.rejectedExecution(task, pool);
		}
	}

	/**
	 * Accepts work only when a thread is idle, so that the pool starts another thread
	 * otherwise. When the pool has its maximum number of threads, the work waits in this
	 * queue.
	 */
	private static final class Idle extends LinkedTransferQueue<Runnable> implements RejectedExecutionHandler {

		private static final long serialVersionUID = 1L;

		@Override
		public boolean offer(Runnable task) {
			return tryTransfer(task);
		}

		@Override
		public void rejectedExecution(Runnable task, ThreadPoolExecutor pool) {
			if (pool.isShutdown()) {
				throw new RejectedExecutionException("The scheduler is closed");
			}
			put(task);
			if (pool.isShutdown() && remove(task)) {
				throw new RejectedExecutionException("The scheduler is closed");
			}
		}

	}

	/** A thread that is identified by its class. */
	static final class SchedulerThread extends Thread {

		SchedulerThread(Runnable task, String name) {
			super(null, task, name, 0, false);
		}

	}

	@Override
	public void close() {
		this.closed = true;
		this.timers.shutdownNow();
		this.pools.forEach(ExecutorService::shutdownNow);
	}

}
