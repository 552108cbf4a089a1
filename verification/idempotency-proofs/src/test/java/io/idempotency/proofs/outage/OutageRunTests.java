package io.idempotency.proofs.outage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application whose Redis is away, for as long as the property says: no effect is
 * there twice that was guarded, the health tells it, the log stays small, and calls are
 * served again afterwards.
 */
@Requires(Backend.REDIS)
@EnabledIfSystemProperty(named = OutageRunTests.SECONDS, matches = "\\d+",
		disabledReason = "it takes eight times as long: -Didempotency.outage.seconds=60")
class OutageRunTests {

	static final String SECONDS = "idempotency.outage.seconds";

	private static final Logger logger = LoggerFactory.getLogger(OutageRunTests.class);

	private static final List<String> rows = new ArrayList<>();

	@ParameterizedTest
	@MethodSource("outages")
	void guardHoldsAndTheOperatorIsTold(StoreFault fault, String mode) throws Exception {
		Duration outage = Duration.ofSeconds(Integer.getInteger(SECONDS));
		try (RedisServer server = RedisServer.startDurable(RedisBinary.REDIS_7_0);
				ConfigurableApplicationContext application = start(server, fault.prepare(server), mode, outage);
				OutageRun run = new OutageRun(
						application.getEnvironment().getRequiredProperty("local.server.port", int.class))) {
			OutageApplication.Orders orders = application.getBean(OutageApplication.Orders.class);
			run.run(outage, () -> fault.begin(server), () -> fault.end(server), () -> orders.guarded().size());
			run.close();
			String row = run.row(fault, mode);
			rows.add(row);
			logger.info("OUTAGE {}", row);
			assertThat(run.failures()).isEmpty();
			assertThat(run.troubleSeen()).as("when the health was no longer UP").isNotNull();
			assertThat(orders.guarded().values()).as("effects of a key under a guard").containsOnly(1);
			assertThat(orders.effects()).as("effects, and first answers").isEqualTo(run.answers().get("200"));
			if (mode.equals("reject")) {
				assertThat(orders.unguarded()).isEmpty();
				assertThat(run.answers()).containsKey("503");
			}
			else {
				assertThat(orders.unguarded()).isNotEmpty();
				assertThat(run.answers()).doesNotContainKey("503");
			}
			assertThat(run.answers().keySet()).isSubsetOf("200", "replayed", "409", "503");
			assertThat(run.lines(Level.ERROR)).isEmpty();
			assertThat(run.lines(Level.WARN)).hasSizeLessThanOrEqualTo(10);
			assertThat(run.lines(Level.INFO)).hasSizeLessThanOrEqualTo(10 * ((int) outage.toSeconds() + 20));
		}
	}

	/** No lease ends meanwhile, so that nothing may be taken over. */
	private static ConfigurableApplicationContext start(RedisServer server, List<String> more, String mode,
			Duration outage) {
		return new SpringApplicationBuilder(OutageApplication.class).registerShutdownHook(false)
			.run(Stream.concat(Stream.of("--server.port=0", "--spring.application.name=outage",
					"--idempotency.store=redis", "--spring.data.redis.host=127.0.0.1",
					"--spring.data.redis.port=" + server.port(), "--spring.data.redis.repositories.enabled=false",
					"--idempotency.lease=" + outage.plusMinutes(5), "--idempotency.on-store-failure=" + mode,
					"--management.endpoint.health.show-components=always",
					"--management.endpoints.web.exposure.include=health"), more.stream())
				.toArray(String[]::new));
	}

	static Stream<Arguments> outages() {
		return Stream.of(StoreFault.values())
			.flatMap((fault) -> Stream.of("reject", "proceed").map((mode) -> Arguments.of(fault, mode)));
	}

	@AfterAll
	static void report() throws IOException {
		List<String> report = new ArrayList<>();
		report.add("An outage of " + Integer.getInteger(SECONDS) + " s, " + Load.CLIENTS + " clients, Redis "
				+ RedisBinary.REDIS_7_0.version() + ", Spring Boot " + SpringBootVersion.getVersion() + ", JDK "
				+ Runtime.version());
		report.add("");
		report.add("| store | mode | answers a second before | during | after | longest answer | most threads "
				+ "| lines ERROR / WARN / INFO | health, in seconds | told / served again / UP after |");
		report.add("|" + "---|".repeat(10));
		report.addAll(rows);
		Files.write(Files.createDirectories(Path.of("target", "outage")).resolve("report.md"), report);
		logger.info("{}", String.join("\n", report));
	}

}
