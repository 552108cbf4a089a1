package io.idempotency.messaging;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

import io.idempotency.interceptor.ArgumentFingerprinter;
import org.jspecify.annotations.Nullable;

import org.springframework.amqp.core.Message;

/**
 * The parameter of a listener method that holds the message.
 *
 * @param index the position of the parameter
 * @param type the name of the type of the message
 */
record MessageParameter(int index, String type) {

	private static final String KAFKA = "org.apache.kafka.clients.consumer.ConsumerRecord";

	private static final String AMQP = "org.springframework.amqp.core.Message";

	private static final String JMS = "jakarta.jms.Message";

	/** The types of messages of the brokers, by name, because each is optional. */
	static final Set<String> BROKER_TYPES = Set.of(KAFKA, AMQP, JMS);

	/** A type with more information comes first. */
	private static final List<String> TYPES = List.of(KAFKA, AMQP, JMS, "org.springframework.messaging.Message",
			"org.springframework.messaging.MessageHeaders");

	/**
	 * Finds the parameter.
	 * @return the parameter, {@code null} if no parameter holds the message
	 */
	static @Nullable MessageParameter of(Method method) {
		Class<?>[] parameters = method.getParameterTypes();
		for (String type : TYPES) {
			for (int i = 0; i < parameters.length; i++) {
				if (ArgumentFingerprinter.is(parameters[i], Set.of(type))) {
					return new MessageParameter(i, type);
				}
			}
		}
		return null;
	}

	/**
	 * Reads the message.
	 * @param repeats whether the container repeats the messages of a topic
	 */
	ReceivedMessage read(@Nullable Object[] arguments, Predicate<String> repeats) {
		Object argument = arguments[this.index];
		if (argument == null) {
			return SpringMessage.UNKNOWN;
		}
		return switch (this.type) {
			case KAFKA -> KafkaRecord.of(argument, repeats);
			case AMQP -> AmqpMessage.of(argument);
			case JMS -> JmsMessage.of(argument);
			default -> SpringMessage.of(argument, repeats);
		};
	}

	/** An AMQP message. */
	private record AmqpMessage(Message message) implements ReceivedMessage {

		static AmqpMessage of(Object argument) {
			return new AmqpMessage((Message) argument);
		}

		@Override
		public Object payload() {
			return this.message.getBody();
		}

		@Override
		public List<Object> headers(String name) {
			return SpringMessage.values(this.message.getMessageProperties().getHeaders(), name);
		}

		@Override
		public @Nullable String id() {
			return this.message.getMessageProperties().getMessageId();
		}

		@Override
		public @Nullable String queue() {
			return this.message.getMessageProperties().getConsumerQueue();
		}

	}

}
