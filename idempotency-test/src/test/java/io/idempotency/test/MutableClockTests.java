package io.idempotency.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MutableClockTests {

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	private final MutableClock clock = new MutableClock(START);

	@Test
	void clockStandsStillUntilItIsMoved() {
		assertThat(this.clock.instant()).isEqualTo(START);
		assertThat(this.clock.instant()).isEqualTo(START);
		assertThat(this.clock.getZone()).isEqualTo(ZoneOffset.UTC);
	}

	@Test
	void clockMovesForwardsAndBackwards() {
		this.clock.advance(Duration.ofSeconds(90));
		assertThat(this.clock.instant()).isEqualTo("2026-01-01T00:01:30Z");
		this.clock.advance(Duration.ofSeconds(-30));
		assertThat(this.clock.instant()).isEqualTo("2026-01-01T00:01:00Z");
	}

	@Test
	void clockShowsWhatItIsSetTo() {
		this.clock.set(Instant.EPOCH);
		assertThat(this.clock.millis()).isZero();
	}

	@Test
	void clockOfAnotherZoneMovesAlong() {
		Clock berlin = this.clock.withZone(ZoneId.of("Europe/Berlin"));
		this.clock.advance(Duration.ofDays(1));
		assertThat(berlin.instant()).isEqualTo(START.plus(Duration.ofDays(1)));
		assertThat(berlin.getZone()).isEqualTo(ZoneId.of("Europe/Berlin"));
	}

	@Test
	void noMoveIsLostBetweenThreads() {
		ConcurrentDuplicates.of(16).run((index) -> {
			for (int i = 0; i < 100; i++) {
				this.clock.advance(Duration.ofMillis(1));
			}
			return index;
		}).valuesOrFail();
		assertThat(this.clock.instant()).isEqualTo(START.plusMillis(1600));
	}

}
