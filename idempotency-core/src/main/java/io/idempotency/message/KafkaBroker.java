package io.idempotency.message;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.aop.OperationCall;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaUtils;

/** Reads the consumer group of a call from Kafka's consumers. */
final class KafkaBroker implements Broker {

	private final BeanFactory beanFactory;

	private final Map<String, String> mainGroups = new ConcurrentHashMap<>();

	KafkaBroker(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public Delivery delivery(Listener listener, OperationCall call, ReceivedMessage message) {
		return new KafkaDelivery(call, message);
	}

	/**
	 * Returns the consumer group of the current thread. The consumer of a retry topic has
	 * a group of its own; it counts as the group of the main topic, because the message
	 * is the same.
	 * @return the group, {@code null} outside a consumer thread and for a consumer
	 * without a group
	 */
	@Override
	public @Nullable String group() {
		String group = KafkaUtils.getConsumerGroupId();
		return (group != null) ? this.mainGroups.computeIfAbsent(group, this::mainGroup) : null;
	}

	private String mainGroup(String group) {
		KafkaListenerEndpointRegistry registry = this.beanFactory.getBeanProvider(KafkaListenerEndpointRegistry.class)
			.getIfAvailable();
		if (registry == null) {
			return group;
		}
		for (MessageListenerContainer container : registry.getListenerContainers()) {
			String mainId = container.getMainListenerId();
			MessageListenerContainer main = (mainId != null && group.equals(container.getGroupId()))
					? registry.getListenerContainer(mainId) : null;
			String mainGroup = (main != null) ? main.getGroupId() : null;
			if (mainGroup != null) {
				return mainGroup;
			}
		}
		return group;
	}

}
