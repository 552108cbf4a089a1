package io.idempotency.it.containers;

import io.idempotency.it.servers.SqlDatabase;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** A server in a container, which ends with this JVM. */
public final class ContainerServer implements AutoCloseable {

	private final GenericContainer<?> container;

	private ContainerServer(GenericContainer<?> container) {
		this.container = container;
		container.start();
	}

	/**
	 * Starts Valkey.
	 * @return the server, ready
	 */
	public static ContainerServer valkey() {
		return new ContainerServer(
				new GenericContainer<>(DockerImageName.parse("valkey/valkey:8.0")).withExposedPorts(6379));
	}

	/**
	 * Starts a real MySQL.
	 * @return the server, ready
	 */
	static ContainerServer mySql() {
		return new ContainerServer(new GenericContainer<>(DockerImageName.parse("mysql:8.4")).withExposedPorts(3306)
			.withEnv("MYSQL_ALLOW_EMPTY_PASSWORD", "yes")
			// The first start, which makes the system's tables, has port 0.
			.waitingFor(Wait.forLogMessage(".*ready for connections.*port: 3306.*\\n", 1)));
	}

	/**
	 * Where it listens on this machine.
	 * @return the port
	 */
	public int port() {
		return this.container.getFirstMappedPort();
	}

	/**
	 * A database of {@link #mySql()}.
	 * @param name its name, empty for none
	 * @return the database
	 */
	SqlDatabase database(String name) {
		return new SqlDatabase("jdbc:mysql://" + this.container.getHost() + ":" + port() + "/" + name
				+ "?allowPublicKeyRetrieval=true&sslMode=DISABLED", port(), "root");
	}

	@Override
	public void close() {
		this.container.stop();
	}

}
