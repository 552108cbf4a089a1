package io.idempotency.it.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.OtherJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A JVM whose every further thread fails with
 * {@code OutOfMemoryError: unable to create native thread}. The limit is one of address
 * space, because a limit of threads does not bind the superuser.
 */
@Nightly
@Tag("own-processes")
class ThreadLimitTests {

	private static final String LIMIT = "ulimit -v 3500000; exec \"$@\"";

	@Test
	void claimsAreRenewedAndFuturesAnsweredWithoutAFurtherThread() throws IOException, InterruptedException {
		List<String> command = new ArrayList<>(List.of("timeout", "120", "bash", "-c", LIMIT, "node"));
		List<String> java = OtherJvm.command(CrowdedNode.class, List.of());
		command.add(java.get(0));
		command.addAll(List.of("-Xmx64m", "-XX:ThreadStackSize=131072", "-XX:CompressedClassSpaceSize=32m",
				"-XX:ReservedCodeCacheSize=32m"));
		command.addAll(java.subList(1, java.size()));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		// Memory for C code of each thread is address space, too.
		builder.environment().put("MALLOC_ARENA_MAX", "1");
		Process process = builder.start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(process.waitFor()).as(output).isZero();
		assertThat(output.lines()).as(output)
			.containsSubsequence("crowded true", "held true", "answered one", "held later true", "answered two",
					"Completed", "Completed")
			.doesNotContain("LEASE_LOST");
	}

}
