package io.idempotency.it.message;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.SpringBootVersion;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each message has one effect, none is held and none is lost, whatever happens to
 * consumers and store meanwhile.
 */
@Tag("own-processes")
@EnabledIfSystemProperty(named = "idempotency.deliveries.messages", matches = ".+",
		disabledReason = "it takes some minutes: -Didempotency.deliveries.messages=1000")
class DeliveryRunTests {

	private static final Logger logger = LoggerFactory.getLogger(DeliveryRunTests.class);

	@ParameterizedTest
	@MethodSource("kinds")
	void eachMessageHasOneEffect(DeliveryKind kind) throws Exception {
		kind.assumeItsBroker();
		int messages = Integer.getInteger("idempotency.deliveries.messages");
		long seed = Long.getLong("idempotency.deliveries.seed", System.nanoTime());
		Path directory = Files.createTempDirectory(Files.createDirectories(Path.of("target", "deliveries")), kind + "-")
			.toAbsolutePath();
		try (DeliveryRun run = new DeliveryRun(kind, directory, new Random(seed))) {
			run.deliver(messages);
			List<String> effects = run.effects();
			List<String> control = run.control();
			logger.info("{}", String.format(
					"DELIVERIES %s: %d messages, %d effects of %d messages; without a guard %d effects of %d messages. "
							+ "Spring Boot %s, -Didempotency.deliveries.seed=%d",
					kind, messages, effects.size(), new HashSet<>(effects).size(), control.size(),
					new HashSet<>(control).size(), SpringBootVersion.getVersion(), seed));
			assertThat(effects).as("effects; logs are in %s", directory)
				.containsExactlyInAnyOrderElementsOf(DeliveryRun.names(messages));
			assertThat(control).as("effects without a guard").hasSizeGreaterThan(3 * messages);
		}
	}

	static List<DeliveryKind> kinds() {
		String kinds = System.getProperty("idempotency.deliveries.kinds");
		return (kinds != null) ? List.of(kinds.split(",")).stream().map(DeliveryKind::valueOf).toList()
				: List.of(DeliveryKind.values());
	}

}
