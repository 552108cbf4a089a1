package io.idempotency.autoconfigure;

import io.idempotency.aop.RequestValues;
import io.idempotency.key.Caller;

/** The request that the current thread works for, where there are requests. */
interface CurrentRequest {

	/** A thread that works for no request. */
	CurrentRequest NONE = new CurrentRequest() {

		@Override
		public RequestValues values() {
			return RequestValues.NONE;
		}

		@Override
		public Caller caller() {
			return Caller.GLOBAL;
		}

	};

	/** What expressions and keys may ask of it; of nothing, outside a request. */
	RequestValues values();

	/** Whose keys and tokens it brings; everybody's, outside a request. */
	Caller caller();

}
