package io.idempotency.messaging;

import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.Callable;

import jakarta.jms.Destination;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.Topic;
import org.jspecify.annotations.Nullable;

/** A JMS message. Its headers are its properties. */
record JmsMessage(Message message) implements ReceivedMessage {

	static JmsMessage of(Object argument) {
		return new JmsMessage((Message) argument);
	}

	@Override
	public List<Object> headers(String name) {
		return read(() -> {
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
		});
	}

	@Override
	public @Nullable String id() {
		return read(this.message::getJMSMessageID);
	}

	@Override
	public @Nullable String queue() {
		return read(() -> name(this.message.getJMSDestination()));
	}

	@Override
	public @Nullable Object payload() {
		return read(() -> this.message.getBody(Object.class));
	}

	static @Nullable String name(Object destination) {
		return read(() -> {
			if (destination instanceof Queue queue) {
				return queue.getQueueName();
			}
			if (destination instanceof Topic topic) {
				return topic.getTopicName();
			}
			return (destination instanceof Destination) ? destination.toString() : null;
		});
	}

	private static <T extends @Nullable Object> T read(Callable<T> part) {
		try {
			return part.call();
		}
		catch (Exception ex) {
			throw new IllegalStateException("A JMS message cannot be read: " + ex.getMessage(), ex);
		}
	}

}
