package io.idempotency.proofs.fuzz;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(classes = FuzzApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "idempotency.token.enabled=true", "idempotency.http.max-request-size=8KB",
				"idempotency.http.scope-headers=X-Session", "server.tomcat.max-keep-alive-requests=-1" })
@EnabledIfSystemProperty(named = "idempotency.fuzz.requests", matches = "\\d+",
		disabledReason = "each run tries something else: -Didempotency.fuzz.requests=100000")
class FuzzTests {

	private static final Logger logger = LoggerFactory.getLogger(FuzzTests.class);

	/**
	 * Seeds of sessions that have found something. They find it again as long as the
	 * generators make the same of them; what they have found has a test of its own.
	 */
	private static final long[] KEPT = { 7, 26, 117, 126, 1023, 1066, 1121, 1282, 1491, 2187, 5_003_515 };

	private static final int BATCH = 5_000;

	@Autowired
	Environment environment;

	@Autowired
	LedgerStore store;

	@Autowired
	ApplicationContext context;

	@Test
	@Timeout(value = 30, unit = TimeUnit.MINUTES)
	void everyRequestIsAnsweredAndOnlyTheSameOneIsReplayed() throws Exception {
		long seed = Long.getLong("idempotency.fuzz.seed", System.nanoTime());
		long enough = Long.getLong("idempotency.fuzz.requests", 10_000);
		logger.info("{} requests with -Didempotency.fuzz.seed={}", enough, seed);
		Tally tally = new Tally();
		FuzzRun run = new FuzzRun(this.environment.getRequiredProperty("local.server.port", Integer.class), tally);
		try (ServerTraces traces = new ServerTraces()) {
			for (long kept : KEPT) {
				run.run(kept, 1);
			}
			long start = System.nanoTime();
			Map<String, Integer> base = Map.of();
			long end = run.requests() + enough;
			while (run.requests() < end && run.failures().isEmpty()) {
				seed = run.run(seed, Math.min(BATCH, end - run.requests()));
				Map<String, Integer> rest = rest();
				if (!base.isEmpty()) {
					assertThat(rest).as("what is left when all has ended, and the server has told %s", traces.told())
						.isEqualTo(base);
				}
				// The first requests fill what is kept for each handler.
				base = rest;
			}
			traces.told().forEach((line) -> logger.info("The server has told: {}", line));
			logger.info("{} requests in {} ms: {}", run.requests(), (System.nanoTime() - start) / 1_000_000, tally);
			assertThat(run.failures()).as("while the server has logged %s", traces.found()).isEmpty();
			assertThat(traces.found()).isEmpty();
		}
		assertThat(tally.of("replayed 200")).isPositive();
	}

	/** What is left when everything has ended and its keys are forgotten. */
	private Map<String, Integer> rest() {
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.untilAsserted(() -> assertThat(this.store.running()).isEmpty());
		this.store.forget();
		return LibraryHeap.sizes(this.context);
	}

}
