package io.idempotency.store.memory;

import java.time.Duration;

import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;

/**
 * There is no record.
 */
enum Absent implements Unclaimed {

	/** Of a key that the caller made. */
	KEY,

	/** Of a token: never issued, expired, or another caller's. */
	TOKEN;

	static Absent of(boolean token) {
		return token ? TOKEN : KEY;
	}

	@Override
	public long expiresAt() {
		return Long.MIN_VALUE;
	}

	@Override
	public Step<ClaimResult> claim(ClaimRequest request, Moment moment) {
		return (this == TOKEN) ? stay(new ClaimResult.UnknownToken()) : Unclaimed.super.claim(request, moment);
	}

	@Override
	public Step<Long> issue(Duration timeToLive, Moment moment) {
		Issued issued = new Issued(moment.plus(timeToLive));
		return new Step<>(issued, issued.expiresAt());
	}

}
