package io.idempotency.it.servers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * What is left of a server that has ended by itself: a pid, which the kernel gives to
 * somebody else. Threads have pids, too, so that a busy machine has used up all of them
 * within a minute. That servers die with their JVM is in {@link SqlServersContract} and
 * {@link RedisServersTests}.
 */
class ServerProcessTests {

	/** Where the kernel goes on counting. */
	private static final Path LAST_PID = Path.of("/proc/sys/kernel/ns_last_pid");

	@TempDir
	private Path directory;

	private Process other;

	@AfterEach
	void stop() {
		if (this.other != null) {
			this.other.destroyForcibly();
		}
	}

	@Test
	void processThatHasThePidOfAServerThatEndedIsLeftAlone() throws Exception {
		ServerProcess server = ServerProcess.start(List.of("true"), this.directory.resolve("log"));
		await().until(server::hasEnded);
		this.other = withPid(server.pid());
		assertThat(server.hasEnded()).isTrue();
		server.pause();
		server.terminate();
		expectUndisturbed();
		server.kill();
		expectUndisturbed();
	}

	/** Nor does the shell take it for the server that it guards. */
	@Test
	void processThatHasThePidOfAServerThatEndedSurvivesItsShell() throws Exception {
		ServerProcess server = ServerProcess.start(List.of("true"), this.directory.resolve("log"));
		await().until(server::hasEnded);
		this.other = withPid(server.pid());
		server.close();
		expectUndisturbed();
	}

	/**
	 * There are enough of them for the server to be reaped before the last one is killed.
	 */
	@Test
	void serverThatDoesNotHeedItsSignalIsKilledWithItsChildren() throws Exception {
		Path ready = this.directory.resolve("ready");
		ServerProcess server = ServerProcess.start(List.of("sh", "-c",
				"trap : TERM; for each in $(seq 20); do sleep 1000 & done; : > " + ready + "; while :; do wait; done"),
				this.directory.resolve("log"), "TERM");
		await().until(() -> Files.exists(ready));
		List<ProcessHandle> children = ProcessHandle.of(server.pid()).orElseThrow().children().toList();
		assertThat(children).hasSize(20);
		server.close();
		assertThat(server.hasEnded()).isTrue();
		await().untilAsserted(() -> assertThat(children).allMatch(ServerProcessTests::isDead));
	}

	private void expectUndisturbed() throws IOException {
		assertThat(this.other.isAlive()).as("the other process lives").isTrue();
		assertThat(state(this.other.pid())).as("its state").isEqualTo('S');
	}

	private static boolean isDead(ProcessHandle process) {
		try {
			return !process.isAlive() || state(process.pid()) == 'Z';
		}
		catch (IOException gone) {
			return true;
		}
	}

	private static char state(long pid) throws IOException {
		String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"), StandardCharsets.ISO_8859_1);
		return stat.charAt(stat.lastIndexOf(')') + 2);
	}

	/** Lets the kernel count up to the pid. Others may be faster. */
	private static Process withPid(long pid) throws Exception {
		assumeThat(Files.isWritable(LAST_PID)).as("the kernel lets itself be told its last pid").isTrue();
		long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
		while (System.nanoTime() - deadline < 0) {
			Files.writeString(LAST_PID, Long.toString(pid - 1));
			Process process = new ProcessBuilder("sleep", "1000").start();
			if (process.pid() == pid) {
				await().until(() -> state(pid) == 'S');
				return process;
			}
			process.destroyForcibly().waitFor();
		}
		throw new IllegalStateException("The pid " + pid + " was always taken");
	}

}
