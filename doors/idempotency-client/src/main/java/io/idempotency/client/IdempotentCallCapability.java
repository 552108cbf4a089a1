package io.idempotency.client;

import feign.Capability;
import feign.Client;
import feign.RetryableException;
import feign.Retryer;

/**
 * Sends a key with each call of a Feign client, and repeats a call whose answer was lost:
 * {@code Feign.builder().addCapability(new IdempotentCallCapability(calls))}.
 * {@link IdempotentCalls} says what is repeated. Thread-safe.
 * <p>
 * Feign's own {@link Retryer} would send each of its attempts with a new key, and after
 * any answer that has {@code Retry-After}. So this capability keeps that retryer from
 * repeating calls that have a key or get one. Feign's retryer still repeats all other
 * calls.
 * <p>
 * The capability waits on the caller's thread, as {@link IdempotentCallInterceptor} does.
 * Clients of {@code AsyncFeign} are not served.
 *
 * @since 0.1.0
 * @see IdempotencyKeys
 */
public final class IdempotentCallCapability implements Capability {

	private final IdempotentCalls calls;

	private final Timing timing;

	/**
	 * Creates a capability.
	 * @param calls says what gets a key and what is repeated
	 */
	public IdempotentCallCapability(IdempotentCalls calls) {
		this(calls, Timing.SYSTEM);
	}

	IdempotentCallCapability(IdempotentCalls calls, Timing timing) {
		this.calls = calls;
		this.timing = timing;
	}

	@Override
	public Client enrich(Client client) {
		return new KeyedFeignClient(client, this.calls, this.timing);
	}

	@Override
	public Retryer enrich(Retryer retryer) {
		return new KeylessRetryer(retryer, this.calls);
	}

	/** Feign's retry for the calls that have no key and get none. */
	private static final class KeylessRetryer implements Retryer {

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

}
