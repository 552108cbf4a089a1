package io.idempotency.message.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import io.idempotency.Internal;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.OperationCall;
import io.idempotency.message.delivery.Broker;
import io.idempotency.message.delivery.Delivery;
import io.idempotency.message.delivery.ReceivedMessage;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaUtils;

/**
 * Knows the containers of Kafka's listeners.
 *
 * @hidden
 */
@Internal
public final class KafkaBroker implements Broker {

	private static final Logger logger = LoggerFactory.getLogger(KafkaBroker.class);

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private static final Duration LOOK = Duration.ofMillis(100);

	private static final Duration MORE_THAN_A_LEASE = Duration.ofSeconds(10);

	/** Kafka's own default. */
	private static final Duration DEFAULT_POLL_INTERVAL = Duration.ofMinutes(5);

	private final BeanFactory beanFactory;

	/** The operations whose acknowledgements came late. */
	private final Set<String> late = ConcurrentHashMap.newKeySet();

	/** By consumer group; empty for one that repeats nothing. */
	private final Map<String, Optional<MessageListenerContainer>> mainContainers = new ConcurrentHashMap<>();

	public KafkaBroker(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public Delivery delivery(OperationCall call, ReceivedMessage message, @Nullable String source) {
		return new KafkaDelivery(this, call, message);
	}

	/** A container of Spring Kafka 3.3 acknowledges a record whose future has failed. */
	@Override
	public boolean redeliversFailedFutures() {
		return false;
	}

	/**
	 * Returns the patience of a delivery on the current thread: longer than a lease, so
	 * that the claim of a dead consumer is over, and shorter than what the broker waits
	 * for a poll.
	 */
	KafkaDelivery.Patience patience(Duration lease) {
		List<AbstractMessageListenerContainer<?, ?>> containers = containers(KafkaUtils.getConsumerGroupId());
		long longest = containers.stream().mapToLong(KafkaBroker::pollInterval).min().orElse(0) / 2;
		long end = System.nanoTime()
				+ Math.min(lease.plus(MORE_THAN_A_LEASE).toNanos(), TimeUnit.MILLISECONDS.toNanos(longest));
		return () -> pause(containers, end);
	}

	private static boolean pause(List<? extends MessageListenerContainer> containers, long end) {
		long over = System.nanoTime() + PAUSE.toNanos();
		while (System.nanoTime() - over < 0) {
			if (System.nanoTime() - end >= 0 || containers.stream().noneMatch(MessageListenerContainer::isRunning)) {
				return false;
			}
			try {
				Thread.sleep(LOOK.toMillis());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return false;
			}
		}
		return true;
	}

	private List<AbstractMessageListenerContainer<?, ?>> containers(@Nullable String group) {
		List<AbstractMessageListenerContainer<?, ?>> containers = new ArrayList<>();
		for (KafkaListenerEndpointRegistry registry : this.beanFactory
			.getBeanProvider(KafkaListenerEndpointRegistry.class)) {
			for (MessageListenerContainer container : registry.getListenerContainers()) {
				if (container instanceof AbstractMessageListenerContainer<?, ?> known
						&& Objects.equals(group, known.getGroupId())) {
					containers.add(known);
				}
			}
		}
		return containers;
	}

	private static long pollInterval(AbstractMessageListenerContainer<?, ?> container) {
		Object interval = container.getContainerProperties()
			.getKafkaConsumerProperties()
			.getProperty(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG);
		if (interval == null && KafkaErrorHandling.value(container, AbstractMessageListenerContainer.class,
				"consumerFactory") instanceof ConsumerFactory<?, ?> consumers) {
			interval = consumers.getConfigurationProperties().get(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG);
		}
		return (interval != null) ? Long.parseLong(interval.toString()) : DEFAULT_POLL_INTERVAL.toMillis();
	}

	/**
	 * Tells, once for each listener, that its work goes on after its return, which the
	 * guard took for its success.
	 */
	void warnOfLateWord(IdempotentOperation operation) {
		if (this.late.add(operation.name())) {
			logger
				.warn("The Kafka listener '{}' has acknowledged from another thread, after its return: the guard takes "
						+ "the return for the end of the work, so a process that dies in between loses the record. Return a "
						+ "CompletableFuture, or set asyncAcks of the container", operation.name());
		}
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
		return (group != null) ? mainContainer(group).map(MessageListenerContainer::getGroupId).orElse(group) : null;
	}

	/** Whatever a retry topic is called, its container knows the main one. */
	@Override
	public boolean repeats(String topic) {
		String group = KafkaUtils.getConsumerGroupId();
		return group != null && mainContainer(group).map(MessageListenerContainer::getContainerProperties)
			.filter((main) -> isOf(topic, main))
			.isPresent();
	}

	private static boolean isOf(String topic, ContainerProperties container) {
		@Nullable String[] topics = container.getTopics();
		Pattern pattern = container.getTopicPattern();
		return topics != null && Arrays.asList(topics).contains(topic)
				|| pattern != null && pattern.matcher(topic).matches();
	}

	private Optional<MessageListenerContainer> mainContainer(String group) {
		return this.mainContainers.computeIfAbsent(group, this::findMainContainer);
	}

	private Optional<MessageListenerContainer> findMainContainer(String group) {
		KafkaListenerEndpointRegistry registry = this.beanFactory.getBeanProvider(KafkaListenerEndpointRegistry.class)
			.getIfAvailable();
		if (registry == null) {
			return Optional.empty();
		}
		for (MessageListenerContainer container : registry.getListenerContainers()) {
			String mainId = container.getMainListenerId();
			MessageListenerContainer main = (mainId != null && group.equals(container.getGroupId()))
					? registry.getListenerContainer(mainId) : null;
			if (main != null && main.getGroupId() != null) {
				return Optional.of(main);
			}
		}
		return Optional.empty();
	}

}
