package io.idempotency.it.store;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.idempotency.it.faults.ShiftedCaller;
import io.idempotency.it.faults.ShiftedClock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

/**
 * Two nodes whose clocks are minutes apart. What is short here is shorter than the
 * difference of the clocks, what is long is longer than any test.
 */
@TestInstance(Lifecycle.PER_CLASS)
public abstract class ClockContract {

	private static final Duration LONG = ShiftedClock.SHIFT.minusMinutes(1);

	private final Runs runs = new Runs();

	private ShiftedClock clock;

	private List<ShiftedCaller> callers;

	/**
	 * Who calls.
	 * @return its class, with a constructor without parameters
	 */
	protected abstract Class<? extends ShiftedCaller> callerType();

	/**
	 * Connects a caller.
	 * @param caller the caller
	 */
	protected abstract void connect(ShiftedCaller caller);

	@BeforeAll
	void startCallers() throws Exception {
		this.clock = new ShiftedClock();
		var constructor = callerType().getDeclaredConstructor();
		constructor.setAccessible(true);
		this.callers = List.of(constructor.newInstance(), this.clock.newCaller(callerType()));
		this.callers.forEach(this::connect);
	}

	@AfterAll
	void stopCallers() throws Exception {
		for (ShiftedCaller caller : this.callers) {
			caller.close();
		}
		this.clock.close();
	}

	@Test
	void clocksAreApart() {
		long difference = this.callers.get(1).time() - this.callers.get(0).time();
		assertThat(difference).isCloseTo(ShiftedClock.SHIFT.toMillis(), within(60_000L));
	}

	@Test
	void liveClaimIsLiveForBoth() {
		for (int i = 0; i < 2; i++) {
			ShiftedCaller owner = this.callers.get(i);
			ShiftedCaller other = this.callers.get(1 - i);
			String key = UUID.randomUUID().toString();
			assertThat(owner.execute(key, LONG, LONG, () -> {
				this.runs.run(key);
				assertThat(other.execute(key, LONG, LONG, () -> this.runs.run(key)))
					.isEqualTo("IdempotencyInProgressException");
			})).isEqualTo("done");
			assertThat(this.runs.of(key)).isEqualTo(1);
		}
	}

	@Test
	void resultIsKeptForBoth() {
		for (int i = 0; i < 2; i++) {
			String key = UUID.randomUUID().toString();
			assertThat(this.callers.get(i).execute(key, LONG, LONG, () -> this.runs.run(key))).isEqualTo("done");
			assertThat(this.callers.get(1 - i).execute(key, LONG, LONG, () -> this.runs.run(key))).isEqualTo("done");
			assertThat(this.runs.of(key)).isEqualTo(1);
		}
	}

	@Test
	void resultIsForgottenForBothAtTheSameTime() {
		Duration retention = Duration.ofMillis(300);
		for (int i = 0; i < 2; i++) {
			String key = UUID.randomUUID().toString();
			ShiftedCaller other = this.callers.get(1 - i);
			assertThat(this.callers.get(i).execute(key, LONG, retention, () -> this.runs.run(key))).isEqualTo("done");
			await().until(() -> {
				assertThat(other.execute(key, LONG, LONG, () -> this.runs.run(key))).isEqualTo("done");
				return this.runs.of(key) == 2;
			});
		}
	}

}
