package io.idempotency.autoconfigure.engine;

import io.idempotency.aop.MethodDoor;
import io.idempotency.message.ListenerDoor;
import io.idempotency.message.kafka.KafkaRegistryPostProcessor;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;

/**
 * Declares the door for listeners of messages and events, which loads the classes of a
 * broker only for listeners of that broker.
 */
@Configuration(proxyBeanMethods = false)
class ListenerConfiguration {

	@Bean
	ListenerDoor idempotencyListenerDoor(MethodDoor methods, ConfigurableListableBeanFactory beanFactory) {
		return new ListenerDoor(methods, beanFactory);
	}

	/** Declares what only Kafka's containers need. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(KafkaListenerEndpointRegistry.class)
	static class KafkaConfiguration {

		@Bean
		static KafkaRegistryPostProcessor idempotencyKafkaRegistryPostProcessor() {
			return new KafkaRegistryPostProcessor();
		}

	}

}
