package io.idempotency.it.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

import static org.awaitility.Awaitility.await;

/**
 * A Redis server of our own: real, on a free port of the loopback interface, its data
 * below {@code target}. A server that does not come up is an exception, never a skipped
 * test.
 */
public final class RedisServer implements AutoCloseable {

	private static final long START_TIMEOUT_SECONDS = 20;

	private final RedisBinary binary;

	private final int port;

	private final Path directory;

	private final List<String> command;

	private @Nullable ServerProcess process;

	private RedisServer(RedisBinary binary, int port, Path directory, List<String> command) {
		this.binary = binary;
		this.port = port;
		this.directory = directory;
		this.command = command;
	}

	/**
	 * Starts a server that keeps nothing on disk.
	 * @param binary its version
	 * @param options further options, e.g. {@code "--maxmemory", "10mb"}
	 * @return the server, ready
	 */
	public static RedisServer start(RedisBinary binary, String... options) {
		int port = FreePorts.next();
		Path directory = directory(binary, port);
		List<String> command = new ArrayList<>(List.of(binary.executable().toString(), "--port", Integer.toString(port),
				"--bind", "127.0.0.1", "--dir", directory.toString(), "--save", "", "--repl-diskless-sync-delay", "0"));
		command.addAll(List.of(options));
		return start(new RedisServer(binary, port, directory, command));
	}

	/**
	 * Starts a server that has every acknowledged write on disk.
	 * @param binary its version
	 * @return the server, ready
	 */
	public static RedisServer startDurable(RedisBinary binary) {
		return start(binary, "--appendonly", "yes", "--appendfsync", "always");
	}

	/**
	 * Starts a replica, and waits until it follows.
	 * @param master its master
	 * @return the replica, ready
	 */
	public static RedisServer startReplica(RedisServer master) {
		RedisServer replica = start(master.binary, "--replicaof", "127.0.0.1", Integer.toString(master.port));
		await().atMost(Duration.ofSeconds(60))
			.pollInterval(Duration.ofMillis(20))
			.until(() -> "up".equals(replica.info("replication").getProperty("master_link_status")));
		return replica;
	}

	/**
	 * Starts a sentinel.
	 * @param binary its version
	 * @param configuration the lines of its configuration file but for its port
	 * @return the sentinel, ready
	 */
	static RedisServer startSentinel(RedisBinary binary, List<String> configuration) {
		int port = FreePorts.next();
		Path directory = directory(binary, port);
		List<String> lines = new ArrayList<>(List.of("port " + port, "bind 127.0.0.1", "dir " + directory));
		lines.addAll(configuration);
		Path file = directory.resolve("sentinel.conf");
		try {
			Files.write(file, lines);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return start(new RedisServer(binary, port, directory,
				List.of(binary.executable().toString(), file.toString(), "--sentinel")));
	}

	private static Path directory(RedisBinary binary, int port) {
		try {
			Path parent = ServerArchive.TARGET.resolve("servers");
			Files.createDirectories(parent);
			return Files.createTempDirectory(parent, "redis-" + binary.version() + "-" + port + "-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static RedisServer start(RedisServer server) {
		server.restart();
		return server;
	}

	/** Starts it again on the same port and data, after a {@link #kill()}. */
	public void restart() {
		close();
		ServerProcess started = ServerProcess.start(this.command, this.directory.resolve("log"));
		this.process = started;
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_TIMEOUT_SECONDS);
		String problem = problem(started);
		while (problem != null) {
			if (System.nanoTime() - deadline > 0) {
				close();
				throw new IllegalStateException("Redis " + this.binary.version() + " did not come up on port "
						+ this.port + ": " + problem + "\n" + started.logTail());
			}
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
			problem = problem(started);
		}
	}

	/**
	 * Asks for the pid, because somebody else's server may have taken the port. A server
	 * that reads its data tells its pid already, but nothing else.
	 */
	private @Nullable String problem(ServerProcess started) {
		try (RespConnection connection = new RespConnection(this.port)) {
			String info = (String) Objects.requireNonNull(connection.command("INFO"));
			if (!info.contains("process_id:" + started.pid() + "\r\n")) {
				return "another server has the port";
			}
			return info.contains("\nloading:1") ? "it still loads its data" : null;
		}
		catch (IOException ex) {
			return ex.toString();
		}
	}

	public int port() {
		return this.port;
	}

	public RedisBinary binary() {
		return this.binary;
	}

	public long pid() {
		return running().pid();
	}

	/** SIGSTOP: it answers nobody until {@link #resume()}. */
	public void pause() {
		running().pause();
	}

	/** SIGCONT. */
	public void resume() {
		running().resume();
	}

	/** SIGKILL: what is not on disk is lost. */
	public void kill() {
		close();
	}

	private ServerProcess running() {
		return Objects.requireNonNull(this.process, "the server was killed");
	}

	/**
	 * Sends one command on a connection of its own.
	 * @param command the command and its arguments
	 * @return a {@code String}, {@code Long}, {@code List} or {@code null}
	 */
	public @Nullable Object command(String... command) {
		return command(this.port, command);
	}

	/**
	 * Sends one command to any server.
	 * @param port its port
	 * @param command the command and its arguments
	 * @return a {@code String}, {@code Long}, {@code List} or {@code null}
	 */
	public static @Nullable Object command(int port, String... command) {
		try (RespConnection connection = new RespConnection(port)) {
			return connection.command(command);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(String.join(" ", command), ex);
		}
	}

	/**
	 * One section of {@code INFO}.
	 * @param section its name
	 * @return its lines
	 */
	public Properties info(String section) {
		Properties properties = new Properties();
		String info = (String) Objects.requireNonNull(command("INFO", section));
		info.lines()
			.filter((line) -> !line.startsWith("#") && line.contains(":"))
			.forEach((line) -> properties.setProperty(line.substring(0, line.indexOf(':')),
					line.substring(line.indexOf(':') + 1)));
		return properties;
	}

	/**
	 * Waits until this replica was promoted. Whoever promotes it makes it close the
	 * connections of all its clients: a question that is cut off says nothing. A sentinel
	 * that was stopped for two seconds together with its machine does nothing for the
	 * next thirty.
	 */
	void awaitMaster() {
		await().atMost(Duration.ofSeconds(100))
			.pollInterval(Duration.ofMillis(50))
			.ignoreException(UncheckedIOException.class)
			.until(() -> "master".equals(info("replication").getProperty("role")));
	}

	@Override
	public void close() {
		ServerProcess running = this.process;
		this.process = null;
		if (running != null) {
			running.close();
		}
	}

	/**
	 * Starts a Redis before an application: the oldest one supported. It ends with this
	 * JVM.
	 */
	public static final class OfAnApplication implements ApplicationContextInitializer<ConfigurableApplicationContext> {

		@Override
		public void initialize(ConfigurableApplicationContext context) {
			RedisServer server = RedisServer.start(RedisBinary.REDIS_6_2);
			context.getBeanFactory().registerSingleton("redisServer", server);
			context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("redis", Map.of("spring.data.redis.host", "127.0.0.1",
						"spring.data.redis.port", server.port(), "spring.data.redis.repositories.enabled", false)));
		}

	}

}
