package io.idempotency.messaging;

import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.adapter.AsyncRepliesAware;
import org.springframework.kafka.listener.adapter.KafkaBackoffAwareMessageListenerAdapter;

/**
 * Adds a {@link KafkaBackOff} to the error handling of all containers before they start.
 * The containers of retry topics do not retry.
 */
final class KafkaBackOffInitializer {

	private KafkaBackOffInitializer() {
	}

	static Stream<AbstractMessageListenerContainer<?, ?>> containers(BeanFactory beanFactory) {
		return beanFactory.getBeanProvider(KafkaListenerEndpointRegistry.class)
			.stream()
			.flatMap((registry) -> registry.getListenerContainers().stream())
			.filter(AbstractMessageListenerContainer.class::isInstance)
			.map((container) -> (AbstractMessageListenerContainer<?, ?>) container);
	}

	static void start(BeanFactory beanFactory) {
		containers(beanFactory)
			.filter((container) -> !(listenerOf(container) instanceof KafkaBackoffAwareMessageListenerAdapter))
			.forEach(KafkaBackOffInitializer::addBackOff);
	}

	private static void addBackOff(AbstractMessageListenerContainer<?, ?> container) {
		boolean transactional = isTransactional(container.getContainerProperties());
		if (container.getCommonErrorHandler() == null && !transactional) {
			DefaultErrorHandler handler = new DefaultErrorHandler();
			// A seek stops the partition of such a container in Spring Kafka 3.3.
			handler.setSeekAfterError(!container.getContainerProperties().isAsyncAcks()
					&& !(listenerOf(container) instanceof AsyncRepliesAware listener && listener.isAsyncReplies()));
			container.setCommonErrorHandler(handler);
		}
		if (container.getCommonErrorHandler() instanceof FailedRecordProcessor handler) {
			KafkaBackOff.addTo(handler);
		}
		if (transactional
				&& (Object) container.getAfterRollbackProcessor() instanceof FailedRecordProcessor processor) {
			KafkaBackOff.addTo(processor);
		}
	}

	private static @Nullable Object listenerOf(MessageListenerContainer container) {
		return container.getContainerProperties().getMessageListener();
	}

	/** The second property exists in Spring Kafka 3 only. */
	private static boolean isTransactional(ContainerProperties container) {
		BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(container);
		return Stream.of("kafkaAwareTransactionManager", "transactionManager")
			.anyMatch((name) -> properties.isReadableProperty(name) && properties.getPropertyValue(name) != null);
	}

}
