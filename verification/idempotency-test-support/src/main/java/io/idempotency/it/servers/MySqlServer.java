package io.idempotency.it.servers;

import java.nio.file.Path;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A MySQL of our own, where the build was asked for one with {@code -Pmysql}.
 */
public final class MySqlServer extends InnoDbServer {

	/** Its version. */
	public static final String VERSION = "8.0.33";

	private static final ServerArchive ARCHIVE = new ServerArchive("mysql-" + VERSION);

	private static @Nullable MySqlServer shared;

	private MySqlServer(int port, Path directory, List<String> command) {
		super("MySQL " + VERSION, port, directory, command);
	}

	/** Whether the build has copied one. */
	public static boolean isHere() {
		return ARCHIVE.isHere();
	}

	/**
	 * The server of this JVM, for tests that do it no harm.
	 * @return the server, ready
	 */
	public static synchronized MySqlServer shared() {
		MySqlServer server = shared;
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
	public static MySqlServer start() {
		Path home = ARCHIVE.unpackJar("", "bin/mysqld|share/(english|charsets)/.*|lib/private/.*");
		int port = FreePorts.next();
		Path directory = ARCHIVE.newDirectory(port);
		// TLS takes a key that costs seconds at every start
		List<String> command = with(command(home.resolve("bin/mysqld"), home, directory), "--mysqlx=OFF",
				"--tls-version=", "--auto-generate-certs=OFF", "--sha256-password-auto-generate-rsa-keys=OFF",
				"--caching-sha2-password-auto-generate-rsa-keys=OFF", "--innodb-redo-log-capacity=32M");
		ServerProcess.run(with(command, "--initialize-insecure"), directory.resolve("log"));
		MySqlServer server = new MySqlServer(port, directory, command);
		server.restart();
		return server;
	}

	@Override
	SqlDatabase database(String name) {
		return new SqlDatabase("jdbc:mysql://127.0.0.1:" + port() + "/" + name + "?sslMode=DISABLED", port(), "root");
	}

}
