package io.idempotency.message;

import io.idempotency.aop.OperationCall;
import org.jspecify.annotations.Nullable;

/** A delivery of a message of JMS. */
final class JmsDelivery extends Delivery {

	JmsDelivery(OperationCall call, ReceivedMessage message) {
		super(call, message);
	}

	@Override
	void watch(@Nullable Object[] arguments) {
		// The session is the listener's own.
	}

	@Override
	void acknowledge() {
		// The container acknowledges when the listener returns.
	}

	@Override
	Throwable sendBack(Throwable why) {
		return why;
	}

}
