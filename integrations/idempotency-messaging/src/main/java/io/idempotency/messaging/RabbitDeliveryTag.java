package io.idempotency.messaging;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import io.idempotency.interceptor.OperationCall;
import org.jspecify.annotations.Nullable;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotatedMethod;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.support.MessageHeaderAccessor;

/** Finds the delivery tag in the arguments of a listener, in each form of Spring AMQP. */
final class RabbitDeliveryTag {

	private RabbitDeliveryTag() {
	}

	/** Returns the tag, {@code null} if the arguments do not contain it. */
	static @Nullable Long of(OperationCall call) {
		MethodParameter[] parameters = parameters(call.operation().guarded().method());
		for (int i = 0; i < parameters.length; i++) {
			Long tag = number(value(parameters[i], call.arguments()[i]));
			if (tag != null) {
				return tag;
			}
		}
		return null;
	}

	/** Returns whether the arguments of a method contain the tag. */
	static boolean isPassedTo(Method method) {
		return Stream.of(parameters(method))
			.anyMatch((parameter) -> isHeader(parameter) || isHeaders(parameter)
					|| Stream
						.of(Message.class, MessageProperties.class, org.springframework.messaging.Message.class,
								MessageHeaderAccessor.class)
						.anyMatch((type) -> type.isAssignableFrom(parameter.getParameterType())));
	}

	/** With the annotations of an interface that the method implements. */
	private static MethodParameter[] parameters(Method method) {
		return new AnnotatedMethod(method).getMethodParameters();
	}

	private static @Nullable Object value(MethodParameter parameter, @Nullable Object argument) {
		if (argument instanceof Message message) {
			return message.getMessageProperties().getDeliveryTag();
		}
		if (argument instanceof MessageProperties properties) {
			return properties.getDeliveryTag();
		}
		if (argument instanceof org.springframework.messaging.Message<?> message) {
			return message.getHeaders().get(AmqpHeaders.DELIVERY_TAG);
		}
		if (argument instanceof MessageHeaderAccessor headers) {
			return headers.getHeader(AmqpHeaders.DELIVERY_TAG);
		}
		if (argument instanceof Map<?, ?> headers && isHeaders(parameter)) {
			return headers.get(AmqpHeaders.DELIVERY_TAG);
		}
		return isHeader(parameter) ? argument : null;
	}

	private static boolean isHeaders(MethodParameter parameter) {
		return MessageHeaders.class.isAssignableFrom(parameter.getParameterType())
				|| parameter.hasParameterAnnotation(Headers.class);
	}

	private static boolean isHeader(MethodParameter parameter) {
		return Stream.of(parameter.getParameterAnnotations())
			.map((annotation) -> AnnotatedElementUtils
				.getMergedAnnotation(AnnotatedElementUtils.forAnnotations(annotation), Header.class))
			.anyMatch((header) -> header != null && AmqpHeaders.DELIVERY_TAG
				.equals(header.name().isEmpty() ? parameter.getParameter().getName() : header.name()));
	}

	private static @Nullable Long number(@Nullable Object value) {
		Object bare = (value instanceof Optional<?> optional) ? optional.orElse(null) : value;
		return (bare != null) ? Long.valueOf(bare.toString()) : null;
	}

}
