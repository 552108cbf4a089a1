package io.idempotency.it.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A MySQL or one of its offspring: real, on a free port of the loopback interface, its
 * data below {@code target}. What is committed survives a {@link #kill()}, because the
 * kernel has it.
 */
abstract class InnoDbServer implements SqlServer {

	private final int port;

	private final RestartableServer server;

	private final AtomicInteger databases = new AtomicInteger();

	/**
	 * Creates a server that is not started.
	 * @param name how messages call it
	 * @param port a free port
	 * @param directory a directory of its own
	 * @param command the program and its arguments, but for the port and what it writes
	 */
	InnoDbServer(String name, int port, Path directory, List<String> command) {
		this.port = port;
		Path pidFile = directory.resolve("pid");
		List<String> started = new ArrayList<>(command);
		started.addAll(List.of("--port=" + port, "--bind-address=127.0.0.1", "--socket=socket", "--pid-file=" + pidFile,
				"--max-connections=300"));
		this.server = new RestartableServer(name, port, started, directory.resolve("data"), "KILL",
				(pid) -> isReady(pidFile, pid));
	}

	/**
	 * What every program of the family takes.
	 * @param program the executable
	 * @param home where its files are
	 * @param directory the directory of this server
	 * @return the command
	 */
	static List<String> command(Path program, Path home, Path directory) {
		List<String> command = new ArrayList<>(List.of(program.toString(), "--no-defaults", "--basedir=" + home,
				"--datadir=" + directory.resolve("data"), "--lc-messages-dir=" + home.resolve("share"),
				"--skip-log-bin",
				// a server that starts deletes what others of its kind keep in a shared
				// directory
				"--tmpdir=" + directory,
				// safe from a crash of the server, not of the machine
				"--innodb-flush-method=nosync", "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M",
				"--character-set-server=utf8mb4"));
		if ("root".equals(System.getProperty("user.name"))) {
			command.add("--user=root");
		}
		return command;
	}

	static List<String> with(List<String> command, String... more) {
		List<String> longer = new ArrayList<>(command);
		longer.addAll(List.of(more));
		return longer;
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

	/**
	 * One of its databases.
	 * @param name its name, empty for none
	 * @return the database
	 */
	abstract SqlDatabase database(String name);

	@Override
	public final SqlDatabase newDatabase() {
		String name = "test" + this.databases.incrementAndGet();
		database("").jdbc().execute("create database " + name);
		return database(name);
	}

	final void closeWithJvm() {
		this.server.closeWithJvm();
	}

	public final long pid() {
		return this.server.pid();
	}

	@Override
	public final int port() {
		return this.port;
	}

	@Override
	public final void pause() {
		this.server.pause();
	}

	@Override
	public final void resume() {
		this.server.resume();
	}

	@Override
	public final void kill() {
		this.server.kill();
	}

	@Override
	public final void restart() {
		this.server.restart();
	}

	@Override
	public final void close() {
		this.server.close();
	}

}
