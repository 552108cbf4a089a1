package io.idempotency.client;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Time that passes only while somebody pauses. */
class TestTiming implements Timing {

	static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	final List<Duration> pauses = new ArrayList<>();

	double chance;

	private Duration passed = Duration.ZERO;

	void pass(Duration duration) {
		this.passed = this.passed.plus(duration);
	}

	@Override
	public long nanoTime() {
		return this.passed.toNanos();
	}

	@Override
	public Instant now() {
		return START.plus(this.passed);
	}

	@Override
	public double chance() {
		return this.chance;
	}

	@Override
	public void pause(Duration duration) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		this.pauses.add(duration);
		pass(duration);
	}

}
