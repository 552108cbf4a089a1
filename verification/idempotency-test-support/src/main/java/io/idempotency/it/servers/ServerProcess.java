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
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A server under our thumb: it can be stopped in its tracks, killed, and it dies with
 * this JVM, however that ends.
 * <p>
 * The server is the child of a shell that waits for the end of its input and then ends
 * it. The input is a pipe that only this JVM holds, so it ends with the JVM even by
 * SIGKILL, when no shutdown hook runs. What else ends a whole process group (Ctrl-C, or
 * the kernel when its leader is gone) ends the waiting and not the shell.
 * <p>
 * The shell reaps a server as soon as it has ended, and from then on the pid may be that
 * of any process or thread. So nobody gets a signal who has not started at the same
 * moment, too.
 * <p>
 * After five seconds the shell's patience ends, and it kills. As soon as the server is
 * gone the shell ends the process that waits for that, but not while it kills: it would
 * leave children of the server behind.
 * <p>
 * A server may consist of several processes: what happens to it happens to its children.
 */
public final class ServerProcess implements AutoCloseable {

	/** {@code id} prints pid and start: the fields 1 and 22 of {@code stat}. */
	private static final String GUARD = """
			trap : HUP INT TERM
			id() { read -r stat </proc/$1/stat && set -- $1 ${stat##*) } && echo $1:${21}; }
			is() { [ "$1" ] && [ "$(id ${1%:*})" = "$1" ]; }
			signal() { signal=$1; shift; for each; do is $each && kill -s $signal ${each%:*}; done; }
			log=$1; stop=$2; shift 2
			"$@" </dev/null >>"$log" 2>&1 &
			pid=$!
			server=$(id $pid)
			echo $pid
			cat >/dev/null
			exec >/dev/null 2>&1
			children=$(is $server && for each in $(cat /proc/$pid/task/$pid/children); do id $each; done)
			signal $stop $server
			signal CONT $server $children
			(trap '' HUP INT TERM; sleep 5; trap '' USR1; signal KILL $server $children) &
			impatience=$(id $!)
			while is $server; do wait $pid; done
			signal USR1 $impatience
			wait
			""";

	private final Process shell;

	private final long pid;

	/** Knows when the server has started; missing if it had ended before. */
	private final Optional<ProcessHandle> server;

	private final Path log;

	private ServerProcess(Process shell, long pid, Path log) {
		this.shell = shell;
		this.pid = pid;
		this.server = ProcessHandle.of(pid);
		this.log = log;
	}

	/**
	 * Starts a server that ends by SIGKILL.
	 * @param command the program and its arguments
	 * @param log where its output is appended
	 * @return the running process
	 */
	public static ServerProcess start(List<String> command, Path log) {
		return start(command, log, "KILL");
	}

	/**
	 * Starts a server.
	 * @param command the program and its arguments
	 * @param log where its output is appended
	 * @param stopSignal the signal that ends it at {@link #close()} or with this JVM
	 * @return the running process
	 */
	static ServerProcess start(List<String> command, Path log, String stopSignal) {
		List<String> guarded = new ArrayList<>(List.of("sh", "-c", GUARD, "guard", log.toString(), stopSignal));
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

	/**
	 * Runs a program to its end.
	 * @param command the program and its arguments
	 * @param log where its output is appended
	 */
	static void run(List<String> command, Path log) {
		run(command, log, Path.of("/dev/null"));
	}

	/**
	 * Runs a program to its end.
	 * @param command the program and its arguments
	 * @param log where its output is appended
	 * @param input what it reads
	 */
	static void run(List<String> command, Path log, Path input) {
		try {
			int exit = new ProcessBuilder(command).redirectInput(input.toFile())
				.redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
				.start()
				.waitFor();
			if (exit != 0) {
				throw new IllegalStateException(String.join(" ", command) + " failed\n" + tail(log));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot run " + command.get(0), ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while " + command.get(0) + " runs", ex);
		}
	}

	public long pid() {
		return this.pid;
	}

	/** Whether it has ended by itself, reaped or not. */
	public boolean hasEnded() {
		if (!isAlive()) {
			return true;
		}
		try {
			String stat = Files.readString(Path.of("/proc", Long.toString(this.pid), "stat"),
					StandardCharsets.ISO_8859_1);
			return stat.charAt(stat.lastIndexOf(')') + 2) == 'Z';
		}
		catch (IOException gone) {
			return true;
		}
	}

	/** The last lines of its output. */
	public String logTail() {
		return tail(this.log);
	}

	private static String tail(Path log) {
		try {
			List<String> lines = Files.readAllLines(log, StandardCharsets.ISO_8859_1);
			return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
		}
		catch (IOException ex) {
			return "no log: " + ex;
		}
	}

	/** SIGSTOP: its sockets accept and keep silent. */
	public void pause() {
		// First the parent, which then has no further children.
		signal("-STOP", List.of(this.pid));
		signal("-STOP", children());
	}

	/** SIGCONT. */
	public void resume() {
		signal("-CONT", children());
		signal("-CONT", List.of(this.pid));
	}

	/** SIGTERM: it is asked to end. */
	public void terminate() {
		signal("-TERM", List.of(this.pid));
	}

	/** SIGKILL at once to all of its processes. */
	public void kill() {
		pause();
		List<Long> all = new ArrayList<>(children());
		all.add(this.pid);
		signal("-KILL", all);
		close();
	}

	/** Ends it, and waits until it is gone. */
	@Override
	public void close() {
		try {
			this.shell.getOutputStream().close();
			if (!this.shell.waitFor(20, TimeUnit.SECONDS)) {
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

	/** Whether the pid is still that of the server, reaped or not. */
	private boolean isAlive() {
		return this.server.isPresent() && this.server.get().isAlive();
	}

	private List<Long> children() {
		return isAlive() ? this.server.get().children().map(ProcessHandle::pid).toList() : List.of();
	}

	private void signal(String signal, List<Long> pids) {
		if (!isAlive() || pids.isEmpty()) {
			return;
		}
		List<String> command = new ArrayList<>(List.of("kill", signal));
		pids.forEach((each) -> command.add(Long.toString(each)));
		try {
			new ProcessBuilder(command).redirectErrorStream(true)
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
