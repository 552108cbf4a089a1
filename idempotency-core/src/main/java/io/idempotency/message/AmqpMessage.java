package io.idempotency.message;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;

/** A message of RabbitMQ. */
final class AmqpMessage implements ReceivedMessage {

	private final MessageProperties properties;

	private AmqpMessage(MessageProperties properties) {
		this.properties = properties;
	}

	static AmqpMessage of(Object argument) {
		return new AmqpMessage(((Message) argument).getMessageProperties());
	}

	@Override
	public List<Object> headers(String name) {
		return HeaderMap.values(this.properties.getHeaders(), name);
	}

	@Override
	public @Nullable String id() {
		return this.properties.getMessageId();
	}

	@Override
	public @Nullable String source() {
		return this.properties.getConsumerQueue();
	}

}
