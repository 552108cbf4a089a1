package io.idempotency.proofs.history;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.it.client.Client;
import io.idempotency.it.servers.FreePorts;
import io.idempotency.it.servers.OtherJvm.Stack;
import io.idempotency.it.servers.OtherJvm;
import io.idempotency.it.servers.ServerProcess;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

import static org.awaitility.Awaitility.await;

/**
 * A {@link HistoryApplication} in a JVM of its own, again and again.
 */
final class HistoryNode implements AutoCloseable {

	private static final Duration START = Duration.ofMinutes(3);

	private static final int ATTEMPTS = 20;

	private static final Duration END = Duration.ofSeconds(30);

	private final String name;

	private final Stack stack;

	private final Class<?> application;

	private final List<String> properties;

	private final Path directory;

	private final int port = FreePorts.next();

	private final Client client = new Client(this.port);

	private int processes;

	private volatile @Nullable ServerProcess process;

	private volatile boolean busy;

	HistoryNode(String name, Stack stack, Class<?> application, List<String> properties, Path directory) {
		this.name = name;
		this.stack = stack;
		this.application = application;
		this.properties = properties;
		this.directory = directory;
	}

	String name() {
		return this.name;
	}

	Client client() {
		return this.client;
	}

	/** Whether it is being started or ended. */
	boolean isBusy() {
		return this.busy;
	}

	void setBusy(boolean busy) {
		this.busy = busy;
	}

	/**
	 * Starts it. An application that cannot reach its store ends at once, and whoever
	 * runs it starts it again.
	 */
	void start() {
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			if (startProcess()) {
				return;
			}
		}
		throw new IllegalStateException(this.name + " does not start\n" + process().logTail());
	}

	private boolean startProcess() {
		this.processes++;
		String id = this.name + "-" + this.processes;
		List<String> arguments = new ArrayList<>(List.of("--server.port=" + this.port, "--server.shutdown=graceful",
				"--spring.lifecycle.timeout-per-shutdown-phase=10s", "--spring.main.banner-mode=off",
				"--server.tomcat.threads.max=60", "--test.process=" + id,
				"--test.journal=" + this.directory.resolve(id + ".journal")));
		this.properties.forEach((property) -> arguments.add("--" + property));
		List<String> command = new ArrayList<>(OtherJvm.command(this.stack, this.application, arguments));
		command.add(1, "-Xmx192m");
		ServerProcess started = ServerProcess.start(command, this.directory.resolve(this.name + ".log"));
		this.process = started;
		await("the start of " + id).atMost(START)
			.ignoreExceptions()
			.until(() -> started.hasEnded()
					|| this.client.send(this.client.to("/ready").timeout(Duration.ofSeconds(5))).status() == 200);
		if (started.hasEnded()) {
			started.close();
			return false;
		}
		return true;
	}

	ServerProcess process() {
		ServerProcess running = this.process;
		if (running == null) {
			throw new IllegalStateException(this.name + " does not run");
		}
		return running;
	}

	/** SIGTERM, and waits for the end. Returns whether it has ended by itself. */
	boolean terminate() {
		ServerProcess running = process();
		running.terminate();
		try {
			await().atMost(END).until(running::hasEnded);
			return true;
		}
		catch (ConditionTimeoutException ex) {
			return false;
		}
		finally {
			running.close();
		}
	}

	@Override
	public void close() {
		ServerProcess running = this.process;
		if (running != null) {
			running.close();
		}
	}

}
