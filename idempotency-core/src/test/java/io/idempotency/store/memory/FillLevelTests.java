package io.idempotency.store.memory;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The owner of a store hears of the end of its room while there is some.
 */
class FillLevelTests {

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	private final FillLevel level = new FillLevel(1_000_000);

	@Test
	void fourFifthsAreToldWithTheRateAndTheRestOfTheTime() {
		assertThat(look(100_000, 0)).isNull();
		assertThat(look(400_000, 100)).isNull();
		assertThat(look(799_999, 500)).isNull();
		assertThat(look(800_000, 500)).contains("at 80 % of its 1000000 bytes", "10 keys a minute",
				"full in about 200 minutes", "'idempotency.memory.max-size'");
	}

	@Test
	void itIsToldOnceUntilTheLevelHasFallen() {
		look(400_000, 0);
		assertThat(look(800_000, 1)).isNotNull();
		assertThat(look(900_000, 2)).isNull();
		assertThat(look(500_000, 3)).isNull();
		assertThat(look(850_000, 4)).isNull();
		assertThat(look(300_000, 5)).isNull();
		assertThat(look(400_000, 6)).isNull();
		assertThat(look(800_000, 7)).isNotNull();
	}

	@Test
	void aFloodIsToldAsOne() {
		assertThat(look(700_000, 0)).isNull();
		assertThat(this.level.look(950_000, 9500, START.plusMillis(1))).contains("full in less than a minute");
	}

	private String look(long kept, int minutes) {
		return this.level.look(kept, (int) (kept / 100), START.plus(Duration.ofMinutes(minutes)));
	}

}
