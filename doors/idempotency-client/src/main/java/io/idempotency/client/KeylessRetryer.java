package io.idempotency.client;

import feign.RetryableException;
import feign.Retryer;

/** Feign's retry for the calls that have no key and get none. */
final class KeylessRetryer implements Retryer {

	private final Retryer retryer;

	private final IdempotentCalls calls;

	KeylessRetryer(Retryer retryer, IdempotentCalls calls) {
		this.retryer = retryer;
		this.calls = calls;
	}

	@Override
	public void continueOrPropagate(RetryableException ex) {
		if (this.calls.getKeys(ex.method().name())
				|| (ex.hasRequest() && KeyedFeignClient.hasKey(ex.request(), this.calls))) {
			throw ex;
		}
		this.retryer.continueOrPropagate(ex);
	}

	@Override
	public Retryer clone() {
		return new KeylessRetryer(this.retryer.clone(), this.calls);
	}

}
