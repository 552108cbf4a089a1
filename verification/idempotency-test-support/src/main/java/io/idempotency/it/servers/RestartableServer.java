package io.idempotency.it.servers;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;

import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

/**
 * A database server that can be killed and started again with the same command.
 */
final class RestartableServer implements AutoCloseable {

	/** A first start has a lot to unpack and write, maybe on a busy machine. */
	private static final long START_TIMEOUT_SECONDS = 60;

	private final String name;

	private final int port;

	private final List<String> command;

	private final Path data;

	private final Path log;

	private final String stopSignal;

	private final LongPredicate ready;

	private @Nullable ServerProcess process;

	RestartableServer(String name, int port, List<String> command, Path data, String stopSignal, LongPredicate ready) {
		this.name = name;
		this.port = port;
		this.command = command;
		this.data = data;
		this.log = data.resolveSibling("log");
		this.stopSignal = stopSignal;
		this.ready = ready;
	}

	/**
	 * A server that ends at once is tried again: another process of the killed one may
	 * still have held its data.
	 */
	void restart() {
		kill();
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_TIMEOUT_SECONDS);
		while (this.process == null) {
			ServerProcess started = ServerProcess.start(this.command, this.log, this.stopSignal);
			if (becomesReady(started, deadline)) {
				this.process = started;
				return;
			}
			started.kill();
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException(
						this.name + " did not come up on port " + this.port + "\n" + started.logTail());
			}
		}
	}

	private boolean becomesReady(ServerProcess started, long deadline) {
		while (!started.hasEnded() && System.nanoTime() - deadline < 0) {
			if (this.ready.test(started.pid())) {
				return true;
			}
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
		}
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
		return false;
	}

	/** Closes it when this JVM ends in peace. */
	void closeWithJvm() {
		Runtime.getRuntime().addShutdownHook(new Thread(this::close));
	}

	long pid() {
		return running().pid();
	}

	void pause() {
		running().pause();
	}

	void resume() {
		running().resume();
	}

	void kill() {
		ServerProcess running = this.process;
		this.process = null;
		if (running != null) {
			running.kill();
		}
	}

	private ServerProcess running() {
		return Objects.requireNonNull(this.process, "the server was killed");
	}

	/** Ends it, and deletes its data but not its log. */
	@Override
	public void close() {
		ServerProcess running = this.process;
		this.process = null;
		if (running != null) {
			running.close();
		}
		FileSystemUtils.deleteRecursively(this.data.toFile());
	}

}
