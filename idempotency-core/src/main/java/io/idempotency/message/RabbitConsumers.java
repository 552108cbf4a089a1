package io.idempotency.message;

import java.io.IOException;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import com.rabbitmq.client.Channel;
import io.idempotency.aop.OperationCall;
import org.jspecify.annotations.Nullable;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.handler.annotation.Header;

/** Acknowledges for listeners of RabbitMQ that do so by themselves. Thread-safe. */
final class RabbitConsumers {

	private final BeanFactory beanFactory;

	RabbitConsumers(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Acknowledges a message that was skipped, if the container leaves that to the
	 * listener. If the container acknowledges, a second acknowledgement would close the
	 * channel.
	 */
	void acknowledge(@Nullable String queue, OperationCall call) throws IOException {
		for (Object argument : call.arguments()) {
			if (argument instanceof Channel channel) {
				Long tag = deliveryTag(call);
				if (tag != null && isManual(queue, call)) {
					channel.basicAck(tag, false);
				}
				return;
			}
		}
	}

	private static @Nullable Long deliveryTag(OperationCall call) {
		Parameter[] parameters = call.operation().method().getParameters();
		for (int i = 0; i < parameters.length; i++) {
			Object argument = call.arguments()[i];
			if (argument instanceof Message message) {
				return message.getMessageProperties().getDeliveryTag();
			}
			if (argument instanceof org.springframework.messaging.Message<?> message) {
				return message.getHeaders().get(AmqpHeaders.DELIVERY_TAG, Long.class);
			}
			Header header = AnnotatedElementUtils.findMergedAnnotation(parameters[i], Header.class);
			if (header != null && header.name().equals(AmqpHeaders.DELIVERY_TAG) && argument instanceof Long tag) {
				return tag;
			}
		}
		return null;
	}

	private boolean isManual(@Nullable String queue, OperationCall call) {
		List<Boolean> declared = declaredModes(call).map(AcknowledgeMode.MANUAL.name()::equalsIgnoreCase).toList();
		List<Boolean> manual = declared.isEmpty() ? modesOfContainers(queue) : declared;
		if (manual.contains(true) && manual.contains(false)) {
			throw new IllegalStateException("Whether '" + call.operation().name()
					+ "' acknowledges its messages by itself cannot be told, because its queue has containers "
					+ "that do and others that do not: set ackMode of @RabbitListener");
		}
		return manual.contains(true);
	}

	private static Stream<String> declaredModes(OperationCall call) {
		return Stream.of(call.operation().method(), call.operation().targetClass())
			.flatMap((element) -> AnnotatedElementUtils.findMergedRepeatableAnnotations(element, RabbitListener.class)
				.stream())
			.map(RabbitListener::ackMode)
			.filter((mode) -> !mode.isEmpty());
	}

	private List<Boolean> modesOfContainers(@Nullable String queue) {
		return this.beanFactory.getBeanProvider(RabbitListenerEndpointRegistry.class)
			.stream()
			.flatMap((registry) -> registry.getListenerContainers().stream())
			.filter(AbstractMessageListenerContainer.class::isInstance)
			.map(AbstractMessageListenerContainer.class::cast)
			.filter((container) -> queue == null || Arrays.asList(container.getQueueNames()).contains(queue))
			.map((container) -> container.getAcknowledgeMode() == AcknowledgeMode.MANUAL)
			.toList();
	}

}
