package io.idempotency.it.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A PostgreSQL of our own: real, on a free port of the loopback interface, its data below
 * {@code target}. What is committed survives a {@link #kill()}, because the kernel has
 * it.
 */
public final class PostgreSqlServer implements SqlServer {

	private static final Map<PostgreSqlBinary, PostgreSqlServer> SHARED = new ConcurrentHashMap<>();

	/** No test cuts the power off, and many servers run at a time. */
	private static final List<String> SMALL_AND_FAST = List.of("fsync=off", "shared_buffers=32MB");

	private final PostgreSqlBinary binary;

	private final int port;

	private final Path data;

	private final RestartableServer server;

	private final AtomicInteger databases = new AtomicInteger();

	private PostgreSqlServer(PostgreSqlBinary binary, Account account, List<String> options) {
		this.binary = binary;
		this.port = FreePorts.next();
		Path directory = binary.newDirectory(this.port);
		this.data = account.newDataDirectory(directory);
		Path log = directory.resolve("log");
		ServerProcess.run(account.command(List.of(binary.executable("initdb").toString(), "-D", this.data.toString(),
				"-A", "trust", "-U", "postgres", "-E", "UTF-8", "--locale=C", "--no-sync")), log);
		this.server = new RestartableServer("PostgreSQL " + binary.version(), this.port,
				account.command(command(binary, this.port, this.data, options)), this.data, "QUIT", this::isReady);
	}

	private static List<String> command(PostgreSqlBinary binary, int port, Path data, List<String> options) {
		List<String> command = new ArrayList<>(List.of(binary.executable("postgres").toString(), "-D", data.toString(),
				"-p", Integer.toString(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
				"-c", "max_connections=200", "-c", "dynamic_shared_memory_type=mmap"));
		options.forEach((option) -> command.addAll(List.of("-c", option)));
		return command;
	}

	/**
	 * The server of this JVM, for tests that do it no harm.
	 * @param binary its version
	 * @return the server, ready
	 */
	public static PostgreSqlServer shared(PostgreSqlBinary binary) {
		return SHARED.computeIfAbsent(binary, (ignored) -> {
			PostgreSqlServer server = start(binary);
			server.server.closeWithJvm();
			return server;
		});
	}

	/**
	 * Starts a server that the test closes.
	 * @param binary its version
	 * @return the server, ready
	 */
	public static PostgreSqlServer start(PostgreSqlBinary binary) {
		return start(binary, Account.current());
	}

	/**
	 * Starts a server that waits for the disk at each commit and has the memory that an
	 * installed one has, to measure it.
	 * @param binary its version
	 * @return the server, ready
	 */
	public static PostgreSqlServer startDurable(PostgreSqlBinary binary) {
		return start(binary, Account.current(), List.of());
	}

	static PostgreSqlServer start(PostgreSqlBinary binary, Account account) {
		return start(binary, account, SMALL_AND_FAST);
	}

	private static PostgreSqlServer start(PostgreSqlBinary binary, Account account, List<String> options) {
		PostgreSqlServer server = new PostgreSqlServer(binary, account, options);
		server.restart();
		return server;
	}

	/** Asks for the pid, because somebody else's server may have taken the port. */
	private boolean isReady(long pid) {
		try {
			List<String> lines = Files.readAllLines(this.data.resolve("postmaster.pid"), StandardCharsets.US_ASCII);
			return lines.size() > 7 && lines.get(0).equals(Long.toString(pid)) && lines.get(7).startsWith("ready");
		}
		catch (IOException notYet) {
			return false;
		}
	}

	@Override
	public SqlDatabase newDatabase() {
		String name = "test" + this.databases.incrementAndGet();
		database("postgres").jdbc().execute("create database " + name);
		return database(name);
	}

	private SqlDatabase database(String name) {
		return new SqlDatabase("jdbc:postgresql://127.0.0.1:" + this.port + "/" + name, this.port, "postgres");
	}

	public PostgreSqlBinary binary() {
		return this.binary;
	}

	public long pid() {
		return this.server.pid();
	}

	@Override
	public int port() {
		return this.port;
	}

	@Override
	public void pause() {
		this.server.pause();
	}

	@Override
	public void resume() {
		this.server.resume();
	}

	@Override
	public void kill() {
		this.server.kill();
	}

	@Override
	public void restart() {
		this.server.restart();
	}

	@Override
	public void close() {
		this.server.close();
	}

	/**
	 * Who PostgreSQL runs as: it rejects to be root.
	 */
	enum Account {

		/** The user of this JVM. */
		SELF,

		/** Nobody in a user namespace, who is root outside. */
		NAMESPACE("unshare", "-U"),

		/** Nobody, for hosts that allow no namespace. */
		NOBODY("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--");

		private static final int NOBODY_ID = 65534;

		private final List<String> prefix;

		Account(String... prefix) {
			this.prefix = List.of(prefix);
		}

		/** The first that works here. */
		static Account current() {
			if (!isRoot() && !isNameless()) {
				return SELF;
			}
			if (NAMESPACE.works()) {
				return NAMESPACE;
			}
			return isRoot() ? NOBODY : SELF;
		}

		/** A number that a container was started with: PostgreSQL wants a name. */
		private static boolean isNameless() {
			return "?".equals(System.getProperty("user.name"));
		}

		static boolean isRoot() {
			return "root".equals(System.getProperty("user.name"));
		}

		boolean works() {
			try {
				return new ProcessBuilder(command(List.of("true"))).start().waitFor() == 0;
			}
			catch (IOException missing) {
				return false;
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return false;
			}
		}

		List<String> command(List<String> command) {
			List<String> all = new ArrayList<>(this.prefix);
			all.addAll(command);
			return all;
		}

		/**
		 * Makes a directory that PostgreSQL may own.
		 * @param parent where
		 * @return the directory
		 */
		Path newDataDirectory(Path parent) {
			try {
				Path data = Files.createDirectory(parent.resolve("data"));
				if (this == NOBODY) {
					Files.setAttribute(data, "unix:uid", NOBODY_ID);
					Files.setAttribute(data, "unix:gid", NOBODY_ID);
				}
				return data;
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
