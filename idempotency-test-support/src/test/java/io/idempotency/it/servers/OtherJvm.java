package io.idempotency.it.servers;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A JVM that is killed.
 */
final class OtherJvm {

	private OtherJvm() {
	}

	/**
	 * Kills a JVM, and waits for the end of its server.
	 * @param main its main class, which starts a server and prints the pid last
	 */
	static void expectDeathOfServer(Class<?> main) throws Exception {
		// In a process group of its own: at its end the kernel hangs up on all of them.
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		Process jvm = new ProcessBuilder("timeout", "600", java, "-XX:TieredStopAtLevel=1", "-cp",
				System.getProperty("java.class.path"), main.getName())
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		try (BufferedReader output = new BufferedReader(
				new InputStreamReader(jvm.getInputStream(), StandardCharsets.UTF_8))) {
			String line = output.readLine();
			while (!line.matches("\\d+")) {
				line = output.readLine();
			}
			ProcessHandle server = ProcessHandle.of(Long.parseLong(line)).orElseThrow();
			assertThat(server.isAlive()).isTrue();
			// SIGKILL: no shutdown hook runs
			jvm.children().forEach(ProcessHandle::destroyForcibly);
			jvm.destroyForcibly().waitFor();
			await().atMost(Duration.ofSeconds(30)).until(() -> !server.isAlive());
		}
		finally {
			jvm.children().forEach(ProcessHandle::destroyForcibly);
			jvm.destroyForcibly();
		}
	}

}
