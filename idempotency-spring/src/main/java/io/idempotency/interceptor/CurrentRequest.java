package io.idempotency.interceptor;

import io.idempotency.Internal;
import io.idempotency.key.Caller;

/**
 * The request that the current thread works for.
 *
 * @hidden
 */
@Internal
public interface CurrentRequest {

	/** The value for an application without requests. */
	CurrentRequest NONE = new CurrentRequest() {

		@Override
		public RequestValues values() {
			return RequestValues.NONE;
		}

		@Override
		public Caller caller() {
			return Caller.GLOBAL;
		}

		@Override
		public Caller owner(String operation) {
			return Caller.GLOBAL;
		}

	};

	/**
	 * Returns the values of the request for expressions and keys,
	 * {@link RequestValues#NONE} outside a request.
	 */
	RequestValues values();

	/**
	 * Returns the owner of the keys and tokens in the request, {@link Caller#GLOBAL}
	 * outside a request.
	 */
	Caller caller();

	/**
	 * Returns the owner of the keys that clients choose for an operation, as
	 * {@link #caller()} does.
	 * @throws io.idempotency.IdempotencyCallerUnknownException if nobody is logged in,
	 * and anonymous callers are refused
	 */
	Caller owner(String operation);

}
