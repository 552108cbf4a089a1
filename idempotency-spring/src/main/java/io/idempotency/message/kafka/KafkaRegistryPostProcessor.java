package io.idempotency.message.kafka;

import io.idempotency.Internal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.kafka.config.KafkaListenerConfigUtils;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;

/**
 * Puts {@link GuardedContainerRegistry} in the place of the registry that
 * {@code @EnableKafka} declares. A registry that the application makes by itself stays,
 * and a warning says what its containers lack.
 *
 * @hidden
 */
@Internal
public final class KafkaRegistryPostProcessor implements BeanFactoryPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(KafkaRegistryPostProcessor.class);

	private static final String REGISTRY = KafkaListenerConfigUtils.KAFKA_LISTENER_ENDPOINT_REGISTRY_BEAN_NAME;

	/**
	 * Creates the post-processor.
	 */
	public KafkaRegistryPostProcessor() {
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (!beanFactory.containsBeanDefinition(REGISTRY)) {
			return;
		}
		BeanDefinition registry = beanFactory.getBeanDefinition(REGISTRY);
		String type = registry.getBeanClassName();
		if (KafkaListenerEndpointRegistry.class.getName().equals(type) && registry.getFactoryMethodName() == null
				&& registry instanceof AbstractBeanDefinition definition) {
			definition.setBeanClass(GuardedContainerRegistry.class);
		}
		else if (!GuardedContainerRegistry.class.getName().equals(type)) {
			logger.warn("The registry of Kafka's containers is not the one of @EnableKafka, so the guard does not know "
					+ "the containers: a record whose first delivery still runs elsewhere is given up after the tries of "
					+ "its error handler. Give each error handler a KafkaBackOff");
		}
	}

}
