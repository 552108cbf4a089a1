package io.idempotency.message;

import io.idempotency.aop.OperationCall;
import org.jspecify.annotations.Nullable;

import org.springframework.kafka.support.Acknowledgment;

/** A delivery of a record of Kafka. */
final class KafkaDelivery extends Delivery {

	KafkaDelivery(OperationCall call, ReceivedMessage message) {
		super(call, message);
	}

	@Override
	void watch(@Nullable Object[] arguments) {
		// The acknowledgment of a record is the listener's own.
	}

	/**
	 * Acknowledges through the listener's own acknowledgment: a listener gets one only if
	 * nobody else acknowledges.
	 */
	@Override
	void acknowledge() {
		for (Object argument : call().arguments()) {
			if (argument instanceof Acknowledgment acknowledgment) {
				acknowledgment.acknowledge();
			}
		}
	}

	/** Leaves the record to the error handler, which seeks back to it. */
	@Override
	Throwable sendBack(Throwable why) {
		return why;
	}

}
