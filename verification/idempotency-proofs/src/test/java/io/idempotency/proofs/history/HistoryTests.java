package io.idempotency.proofs.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.SpringBootVersion;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many minutes of calls and faults on a real server: nothing that is promised is broken.
 */
@Tag("own-processes")
class HistoryTests {

	private static final Logger logger = LoggerFactory.getLogger(HistoryTests.class);

	private static final int ENOUGH = 20;

	/** Nodes of WebFlux, where one of each stack shares a store. */
	private static final Set<String> REACTIVE = Set.of("two", "three");

	private static final String STORE = System.getProperty("idempotency.history.store", "redis");

	@Test
	@EnabledIfSystemProperty(named = "idempotency.history.minutes", matches = ".+",
			disabledReason = "it takes as long as you like: -Didempotency.history.minutes=10")
	@Timeout(value = 5, unit = TimeUnit.HOURS)
	void nothingThatIsPromisedIsBroken() throws Exception {
		Duration duration = Duration.ofMinutes(Long.parseLong(System.getProperty("idempotency.history.minutes")));
		long seed = Long.parseLong(System.getProperty("idempotency.history.seed", Long.toString(System.nanoTime())));
		Path directory = HistoryRun.newDirectory(STORE);
		logger.info("The history goes to {}, with -Didempotency.history.seed={}", directory, seed);
		try (HistoryStore store = store()) {
			History history = new HistoryRun(store, directory, new Random(seed)).run(duration);
			check(history, directory, store.title(), circumstances(duration, store, seed));
			assertThat(history.calls()).as("calls").hasSizeGreaterThan((int) duration.toMinutes() * 1_000);
		}
	}

	@Test
	@EnabledIfSystemProperty(named = "idempotency.history.directory", matches = ".+",
			disabledReason = "no history that was kept is to be checked again")
	void historyThatWasKeptIsChecked() throws Exception {
		Path directory = Path.of(System.getProperty("idempotency.history.directory"));
		check(History.read(directory), directory, directory.getFileName().toString(), "Checked again.");
	}

	private static void check(History history, Path directory, String title, String circumstances) throws IOException {
		Verdict verdict = new HistoryChecker(history).check();
		Report report = new Report(history, verdict);
		String markdown = report.markdown(title, circumstances);
		Files.writeString(directory.resolve("report.md"), markdown);
		Files.writeString(directory.resolve("violations.txt"),
				stories(report, verdict.violations()) + stories(report, verdict.forgotten()));
		logger.info("{}\n{}", directory, markdown);
		assertThat(verdict.violations()).as("told in %s/violations.txt", directory).isEmpty();
		assertThat(verdict.lateRuns()).as("runs whose claim was over, and the owner did not look").hasSizeLessThan(3);
	}

	private static HistoryStore store() {
		return switch (STORE) {
			case "redis" -> new RedisAlone(Set.of());
			case "redis-webflux" -> new RedisAlone(REACTIVE);
			case "redis-cluster" -> new RedisCluster();
			case "postgresql" -> new PostgreSqlAlone(Set.of());
			case "postgresql-webflux" -> new PostgreSqlAlone(REACTIVE);
			case "redis-fail-over" -> new RedisFailOver();
			default -> throw new IllegalArgumentException("-Didempotency.history.store=" + STORE);
		};
	}

	private static String circumstances(Duration duration, HistoryStore store, long seed) {
		return String.format("%s, %d minutes, lease %d s, seed %d; Spring Boot %s, JDK %s, %s %s, %d processors.",
				LocalDate.now(), duration.toMinutes(), store.lease().toSeconds(), seed, SpringBootVersion.getVersion(),
				Runtime.version(), System.getProperty("os.name"), System.getProperty("os.arch"),
				Runtime.getRuntime().availableProcessors());
	}

	/** The first of many. */
	private static String stories(Report report, List<Violation> violations) {
		return violations.stream().limit(ENOUGH).map(report::story).collect(Collectors.joining("\n"));
	}

}
