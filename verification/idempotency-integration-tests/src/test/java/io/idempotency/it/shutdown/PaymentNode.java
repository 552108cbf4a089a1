package io.idempotency.it.shutdown;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.it.client.Client;
import io.idempotency.it.servers.FreePorts;
import io.idempotency.it.servers.OtherJvm;
import io.idempotency.it.servers.ServerProcess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A {@link PaymentApplication} in a JVM of its own, which may be started again.
 */
final class PaymentNode implements AutoCloseable {

	private static final Duration START = Duration.ofSeconds(60);

	private final int port = FreePorts.next();

	private final Client client = new Client(this.port);

	private final List<String> command;

	private final Path log;

	private ServerProcess process;

	PaymentNode(Path directory, List<String> properties) {
		this.log = directory.resolve("application.log");
		List<String> arguments = new ArrayList<>(List.of("--server.port=" + this.port, "--server.shutdown=graceful",
				"--spring.lifecycle.timeout-per-shutdown-phase=10s"));
		properties.forEach((property) -> arguments.add("--" + property));
		this.command = OtherJvm.command(PaymentApplication.class, arguments);
		this.process = start();
	}

	private ServerProcess start() {
		ServerProcess started = ServerProcess.start(this.command, this.log);
		await("the start of an application that logs to " + this.log).atMost(START)
			.ignoreExceptions()
			.until(() -> started.hasEnded() || this.client.send(this.client.to("/ready")).status() == 200);
		assertThat(started.hasEnded()).as(started::logTail).isFalse();
		return started;
	}

	Client client() {
		return this.client;
	}

	/** SIGTERM. */
	void terminate() {
		this.process.terminate();
	}

	/** Waits until it has ended by itself. */
	void awaitEnd(Duration atMost) {
		await("the end of the application").atMost(atMost).until(this.process::hasEnded);
		this.process.close();
	}

	/** Starts it again, after its end. */
	void restart() {
		this.process = start();
	}

	@Override
	public void close() {
		this.process.close();
	}

}
