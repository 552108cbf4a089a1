package io.idempotency.message;

import io.idempotency.aop.OperationCall;

/** A broker of JMS. */
final class JmsBroker implements Broker {

	@Override
	public Delivery delivery(Listener listener, OperationCall call, ReceivedMessage message) {
		return new JmsDelivery(call, message);
	}

}
