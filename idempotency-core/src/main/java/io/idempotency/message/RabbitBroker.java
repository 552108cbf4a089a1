package io.idempotency.message;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.idempotency.aop.OperationCall;
import org.jspecify.annotations.Nullable;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Knows the containers of RabbitMQ's listeners. */
final class RabbitBroker implements Broker {

	private final BeanFactory beanFactory;

	RabbitBroker(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public Delivery delivery(Listener listener, OperationCall call, ReceivedMessage message) {
		return new RabbitDelivery(this, call, message,
				(listener.source() != null) ? listener.source() : message.source());
	}

	/** Returns whether the listener acknowledges by itself. */
	boolean isManual(@Nullable String queue, OperationCall call) {
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
