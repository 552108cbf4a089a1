package io.idempotency.message;

import java.util.List;

import io.idempotency.message.delivery.ReceivedMessage;
import org.jspecify.annotations.Nullable;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;

/** A message of RabbitMQ. */
final class AmqpMessage implements ReceivedMessage {

	private final MessageProperties properties;

	private final byte[] body;

	private AmqpMessage(Message message) {
		this.properties = message.getMessageProperties();
		this.body = message.getBody();
	}

	static AmqpMessage of(Object argument) {
		return new AmqpMessage((Message) argument);
	}

	@Override
	public Object payload() {
		return this.body;
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
