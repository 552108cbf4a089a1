package io.idempotency.store.memory;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;

import io.idempotency.engine.MovableClock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The owner of a store hears of the end of its room while there is some.
 */
class FillLevelMonitorTests {

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	private final MovableClock clock = new MovableClock();

	private final Instant start = this.clock.instant();

	private int records;

	private final FillLevelMonitor level = new FillLevelMonitor(1_000_000, () -> this.records, this.clock);

	@Test
	void fourFifthsAreToldWithTheRateAndTheRestOfTheTime() {
		assertThat(look(100_000, 0)).isNull();
		assertThat(look(400_000, 100)).isNull();
		assertThat(look(799_999, 500)).isNull();
		assertThat(look(800_000, 500)).contains("80 % of its 1000000 bytes", "10 new keys a minute",
				"full in about 200 minutes", "idempotency.memory.max-size");
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
		assertThat(look(950_000, 0)).contains("full in less than a minute");
	}

	@Test
	void aStoreThatIsHalfEmptyAsksNobodyForTheTime() {
		FillLevelMonitor quiet = new FillLevelMonitor(1_000_000, () -> {
			throw new AssertionError("counted");
		}, Clock.fixed(START, ZoneOffset.UTC));
		assertThat(quiet.look(399_999)).isNull();
	}

	/** As of records of a hundred bytes each, so many minutes after the start. */
	private @Nullable String look(long kept, int minutes) {
		this.records = (int) (kept / 100);
		this.clock.advance(Duration.between(this.clock.instant(), this.start.plus(Duration.ofMinutes(minutes))));
		return this.level.look(kept);
	}

}
