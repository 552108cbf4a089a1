package io.idempotency.it.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A server under our thumb: it can be stopped in its tracks, killed, and it dies with
 * this JVM, however that ends.
 * <p>
 * The server is the child of a shell that waits for the end of its input and then kills
 * it. The input is a pipe that only this JVM holds, so it ends with the JVM even by
 * SIGKILL, when no shutdown hook runs. The shell reaps its child only after that, so the
 * pid is never another process's.
 */
public final class ServerProcess implements AutoCloseable {

	private static final String GUARD = """
			log=$1; shift
			"$@" </dev/null >>"$log" 2>&1 &
			echo $!
			cat >/dev/null
			kill -9 $! 2>/dev/null
			wait $! 2>/dev/null
			""";

	private final Process shell;

	private final long pid;

	private final Path log;

	private ServerProcess(Process shell, long pid, Path log) {
		this.shell = shell;
		this.pid = pid;
		this.log = log;
	}

	/**
	 * Starts a server.
	 * @param command the program and its arguments
	 * @param log where its output is appended
	 * @return the running process
	 */
	public static ServerProcess start(List<String> command, Path log) {
		List<String> guarded = new ArrayList<>(List.of("sh", "-c", GUARD, "guard", log.toString()));
		guarded.addAll(command);
		try {
			Process shell = new ProcessBuilder(guarded).redirectError(ProcessBuilder.Redirect.DISCARD).start();
			BufferedReader output = new BufferedReader(
					new InputStreamReader(shell.getInputStream(), StandardCharsets.US_ASCII));
			return new ServerProcess(shell, Long.parseLong(output.readLine().trim()), log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot start " + command.get(0), ex);
		}
	}

	public long pid() {
		return this.pid;
	}

	/** The last lines of its output. */
	public String logTail() {
		try {
			List<String> lines = Files.readAllLines(this.log, StandardCharsets.ISO_8859_1);
			return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
		}
		catch (IOException ex) {
			return "no log: " + ex;
		}
	}

	/** SIGSTOP: its sockets accept and keep silent. */
	public void pause() {
		signal("-STOP");
	}

	/** SIGCONT. */
	public void resume() {
		signal("-CONT");
	}

	/** SIGKILL, and waits until it is gone. */
	@Override
	public void close() {
		signal("-KILL");
		try {
			this.shell.getOutputStream().close();
			if (!this.shell.waitFor(10, TimeUnit.SECONDS)) {
				throw new IllegalStateException("Process " + this.pid + " survived a SIGKILL");
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void signal(String signal) {
		if (!this.shell.isAlive()) {
			return;
		}
		try {
			new ProcessBuilder("kill", signal, Long.toString(this.pid)).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
