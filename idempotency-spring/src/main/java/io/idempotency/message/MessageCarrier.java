package io.idempotency.message;

import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Predicate;

import io.idempotency.message.delivery.ReceivedMessage;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.util.ClassUtils;

/**
 * The parameter of a listener method that holds the message.
 *
 * @param index the position of the parameter
 * @param reader reads the argument
 * @param replacesIds whether some headers are not those of the message
 */
record MessageCarrier(int index, BiFunction<Object, Predicate<String>, ReceivedMessage> reader, boolean replacesIds) {

	/** The types that hold a message; those that tell more come first. */
	private static final List<Type> TYPES = types();

	/**
	 * Finds the parameter.
	 * @param method the listener method
	 * @return the parameter, {@code null} if no parameter holds the message
	 */
	static @Nullable MessageCarrier of(Method method) {
		Parameter[] parameters = method.getParameters();
		for (Type type : TYPES) {
			for (int i = 0; i < parameters.length; i++) {
				if (type.parameter().isAssignableFrom(parameters[i].getType())) {
					return new MessageCarrier(i, type.reader(),
							type.parameter().getName().startsWith("org.springframework.messaging."));
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
		return (argument != null) ? this.reader.apply(argument, repeats) : ReceivedMessage.UNKNOWN;
	}

	private static List<Type> types() {
		List<Type> types = new ArrayList<>();
		// Lambdas, because a method reference would load the class of the broker here.
		add(types, "org.apache.kafka.clients.consumer.ConsumerRecord",
				(argument, repeats) -> KafkaRecord.of(argument, repeats));
		add(types, "org.springframework.amqp.core.Message", (argument, repeats) -> AmqpMessage.of(argument));
		add(types, "jakarta.jms.Message", (argument, repeats) -> JmsMessage.of(argument));
		add(types, "org.springframework.messaging.Message", (argument, repeats) -> SpringMessage.of(argument, repeats));
		add(types, "org.springframework.messaging.MessageHeaders",
				(argument, repeats) -> SpringMessage.of(argument, repeats));
		return List.copyOf(types);
	}

	private static void add(List<Type> types, String className,
			BiFunction<Object, Predicate<String>, ReceivedMessage> reader) {
		ClassLoader classLoader = MessageCarrier.class.getClassLoader();
		if (ClassUtils.isPresent(className, classLoader)) {
			types.add(new Type(ClassUtils.resolveClassName(className, classLoader), reader));
		}
	}

	private record Type(Class<?> parameter, BiFunction<Object, Predicate<String>, ReceivedMessage> reader) {
	}

	/** A message of RabbitMQ. */
	private static final class AmqpMessage implements ReceivedMessage {

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

}
