package io.idempotency.it.servers;

import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** What becomes of a server whose JVM is killed. */
final class DeadJvm {

	private DeadJvm() {
	}

	/**
	 * Kills a JVM, and waits for the end of its server.
	 * @param main its main class, which starts a server and prints the pid last
	 */
	static void expectDeathOfServer(Class<?> main) {
		try (OtherJvm jvm = OtherJvm.start(main)) {
			ProcessHandle server = ProcessHandle.of(Long.parseLong(jvm.awaitLine("\\d+"))).orElseThrow();
			assertThat(server.isAlive()).isTrue();
			jvm.kill();
			await().atMost(Duration.ofSeconds(60)).until(() -> !server.isAlive());
		}
	}

}
