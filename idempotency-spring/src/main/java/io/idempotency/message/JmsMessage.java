package io.idempotency.message;

import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;

import io.idempotency.message.delivery.ReceivedMessage;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.Topic;
import org.jspecify.annotations.Nullable;

/** A message of JMS. Its headers are its properties. */
final class JmsMessage implements ReceivedMessage {

	private final Message message;

	private JmsMessage(Message message) {
		this.message = message;
	}

	static JmsMessage of(Object argument) {
		return new JmsMessage((Message) argument);
	}

	@Override
	public List<Object> headers(String name) {
		try {
			List<Object> values = new ArrayList<>();
			Enumeration<?> names = this.message.getPropertyNames();
			while (names.hasMoreElements()) {
				String property = String.valueOf(names.nextElement());
				Object value = property.equalsIgnoreCase(name) ? this.message.getObjectProperty(property) : null;
				if (value != null) {
					values.add(value);
				}
			}
			return values;
		}
		catch (JMSException ex) {
			throw unreadable(ex);
		}
	}

	@Override
	public @Nullable String id() {
		try {
			return this.message.getJMSMessageID();
		}
		catch (JMSException ex) {
			throw unreadable(ex);
		}
	}

	@Override
	public @Nullable String source() {
		try {
			return name(this.message.getJMSDestination());
		}
		catch (JMSException ex) {
			throw unreadable(ex);
		}
	}

	@Override
	public @Nullable Object payload() {
		try {
			return this.message.getBody(Object.class);
		}
		catch (JMSException ex) {
			throw new IllegalStateException("The body of a JMS message cannot be read: " + ex.getMessage(), ex);
		}
	}

	static @Nullable String name(@Nullable Object destination) {
		try {
			if (destination instanceof Queue queue) {
				return queue.getQueueName();
			}
			if (destination instanceof Topic topic) {
				return topic.getTopicName();
			}
			return (destination instanceof Destination) ? destination.toString() : null;
		}
		catch (JMSException ex) {
			throw unreadable(ex);
		}
	}

	private static IllegalStateException unreadable(JMSException cause) {
		return new IllegalStateException("The headers of a JMS message cannot be read: " + cause.getMessage(), cause);
	}

}
