package io.idempotency.message;

import io.idempotency.Internal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Gives {@link KafkaBackOff} to containers whose error handling the application leaves to
 * the default, before they start. Such a container would make its own
 * {@link DefaultErrorHandler}, which gives a record up after ten tries in a row. A
 * container with an error handler or with transactions is left as it is.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class KafkaErrorHandling implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(KafkaErrorHandling.class);

	private final ObjectProvider<KafkaListenerEndpointRegistry> registries;

	private volatile boolean running;

	/**
	 * Creates the bean.
	 * @param registries the registry of the containers
	 */
	public KafkaErrorHandling(ObjectProvider<KafkaListenerEndpointRegistry> registries) {
		this.registries = registries;
	}

	@Override
	public void start() {
		this.running = true;
		for (KafkaListenerEndpointRegistry registry : this.registries) {
			registry.getListenerContainers().forEach(KafkaErrorHandling::complete);
		}
	}

	private static void complete(MessageListenerContainer candidate) {
		if (candidate instanceof AbstractMessageListenerContainer<?, ?> container && !container.isRunning()
				&& container.getCommonErrorHandler() == null && !isTransactional(container.getContainerProperties())) {
			DefaultErrorHandler handler = new DefaultErrorHandler();
			handler.setBackOffFunction(new KafkaBackOff());
			container.setCommonErrorHandler(handler);
			logger.debug("The Kafka listener '{}' waits for first calls that still run", container.getListenerId());
		}
	}

	/**
	 * Returns whether a container has transactions: then the records are repeated after
	 * the roll-back, and an error handler would change that. The property for other
	 * transaction managers is not on all lines.
	 */
	private static boolean isTransactional(ContainerProperties properties) {
		BeanWrapper wrapper = PropertyAccessorFactory.forBeanPropertyAccess(properties);
		return isSet(wrapper, "kafkaAwareTransactionManager") || isSet(wrapper, "transactionManager");
	}

	private static boolean isSet(BeanWrapper properties, String name) {
		return properties.isReadableProperty(name) && properties.getPropertyValue(name) != null;
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/** Comes right before the containers. */
	@Override
	public int getPhase() {
		return AbstractMessageListenerContainer.DEFAULT_PHASE - 1;
	}

}
