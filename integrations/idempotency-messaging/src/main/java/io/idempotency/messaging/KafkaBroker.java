package io.idempotency.messaging;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.idempotency.interceptor.ArgumentFingerprinter;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.OperationCall;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.KafkaListeners;
import org.springframework.kafka.annotation.TopicPartition;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.adapter.AsyncRepliesAware;
import org.springframework.kafka.listener.adapter.KafkaBackoffAwareMessageListenerAdapter;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.messaging.handler.annotation.Header;

/** Kafka and its listener containers. */
final class KafkaBroker implements Broker {

	private static final Logger logger = LoggerFactory.getLogger(KafkaBroker.class);

	/** How an expression names the topic, or calls other code that may do so. */
	private static final Pattern TOPIC = Pattern.compile("topic(_?name)?\\b|@|\\bT\\(", Pattern.CASE_INSENSITIVE);

	/** Since Spring Kafka 4.0. */
	private static final Set<String> SHARE_FACTORY = Set
		.of("org.springframework.kafka.config.ShareKafkaListenerContainerFactory");

	private static final Duration MORE_THAN_A_LEASE = Duration.ofSeconds(10);

	private final ConfigurableBeanFactory beanFactory;

	/** The operations whose acknowledgements came after their return. */
	private final Set<String> late = ConcurrentHashMap.newKeySet();

	/** By consumer group; empty for a group that does not belong to a retry topic. */
	private final Map<String, Optional<MessageListenerContainer>> mainContainers = new ConcurrentHashMap<>();

	KafkaBroker(ConfigurableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void check(GuardedListener listener) {
		IdempotentOperation operation = listener.operation();
		List<KafkaListener> annotations = Stream.of(operation.guarded().method(), operation.guarded().targetClass())
			.flatMap((element) -> AnnotatedElementUtils
				.findMergedRepeatableAnnotations(element, KafkaListener.class, KafkaListeners.class)
				.stream())
			.toList();
		if (annotations.stream().anyMatch(this::isOfShareGroup)) {
			throw operation.problem(
					"its container belongs to a share group, which rejects a record whose listener throws: a record whose "
							+ "first delivery is in progress elsewhere, or whose store is unavailable, would be lost",
					"Use a container of a consumer group, e.g. by a ConcurrentKafkaListenerContainerFactory");
		}
		if (hasSeveralTopics(annotations) && operation.key().scope() == null
				&& operation.key().source() instanceof KeySource.Spel key && !key.expression().calls("messageId")
				&& !namesTopic(key.expression().toString(), operation)) {
			throw operation.problem(
					"it listens to several topics, and its key does not contain the topic: a record of one topic would be "
							+ "skipped because a record of another topic has the same key",
					"Add the topic to the key, e.g. key = \"{#record.topic(), #record.key()}\"; or set scope if the topics "
							+ "share their keys, e.g. scope = \"'orders'\"");
		}
	}

	private boolean isOfShareGroup(KafkaListener listener) {
		String factory = this.beanFactory.resolveEmbeddedValue(listener.containerFactory());
		String name = (factory == null || factory.isEmpty()) ? "kafkaListenerContainerFactory" : factory;
		Class<?> type = this.beanFactory.containsBean(name) ? this.beanFactory.getType(name) : null;
		return type != null && ArgumentFingerprinter.is(type, SHARE_FACTORY);
	}

	/**
	 * Returns whether a consumer group has several topics, or a pattern. An expression
	 * counts as one topic.
	 */
	private static boolean hasSeveralTopics(List<KafkaListener> listeners) {
		Map<String, Set<String>> topics = new HashMap<>();
		for (KafkaListener listener : listeners) {
			String group = (listener.groupId().isEmpty() && listener.idIsGroup()) ? listener.id() : listener.groupId();
			Set<String> ofGroup = topics.computeIfAbsent(group, (ignored) -> new HashSet<>());
			ofGroup.addAll(List.of(listener.topics()));
			Stream.of(listener.topicPartitions()).map(TopicPartition::topic).forEach(ofGroup::add);
		}
		return topics.values().stream().anyMatch((ofGroup) -> ofGroup.size() > 1)
				|| listeners.stream().anyMatch((listener) -> !listener.topicPattern().isEmpty());
	}

	private static boolean namesTopic(String key, IdempotentOperation operation) {
		return TOPIC.matcher(key).find()
				|| Arrays.stream(operation.guarded().method().getParameters()).anyMatch((parameter) -> {
					Header header = AnnotatedElementUtils.findMergedAnnotation(parameter, Header.class);
					return header != null && header.name().equals(KafkaHeaders.RECEIVED_TOPIC)
							&& key.matches(".*#" + parameter.getName() + "\\b.*");
				});
	}

	@Override
	public Delivery delivery(OperationCall call, ReceivedMessage message, GuardedListener listener) {
		return new KafkaDelivery(this, call, message);
	}

	/**
	 * Returns the pauses of a delivery on the current thread: longer than a lease, so
	 * that the claim of a crashed consumer expires.
	 */
	RetryWait retryWait(Duration lease) {
		String group = KafkaUtils.getConsumerGroupId();
		return new RetryWait(lease.plus(MORE_THAN_A_LEASE),
				() -> containers(this.beanFactory).filter((container) -> Objects.equals(group, container.getGroupId()))
					.noneMatch(MessageListenerContainer::isRunning));
	}

	private Stream<KafkaListenerEndpointRegistry> registries() {
		return this.beanFactory.getBeanProvider(KafkaListenerEndpointRegistry.class).stream();
	}

	/** Warns, once for each listener, that its work continues after its return. */
	void warnOfLateAcknowledgement(IdempotentOperation operation) {
		if (this.late.add(operation.name())) {
			logger.warn("[IDEM-402] Kafka listener '{}' acknowledged a record from another thread after it returned: "
					+ "the return completes the call, so the record is lost if the process crashes before the "
					+ "work ends. Return a CompletableFuture, or set asyncAcks of the container (without "
					+ "transaction = JOIN).", operation.name());
		}
	}

	/**
	 * Returns the consumer group of the current thread. The consumer group of a retry
	 * topic counts as the group of the main topic, because the message is the same.
	 * @return the group, {@code null} outside a consumer thread and for a consumer
	 * without a group
	 */
	@Override
	public @Nullable String group() {
		String group = KafkaUtils.getConsumerGroupId();
		return (group != null) ? mainContainer(group).map(MessageListenerContainer::getGroupId).orElse(group) : null;
	}

	/** The container of a retry topic names the main container. */
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
		return this.mainContainers.computeIfAbsent(group,
				(name) -> registries()
					.flatMap((registry) -> registry.getListenerContainers()
						.stream()
						.filter((container) -> container.getMainListenerId() != null
								&& name.equals(container.getGroupId()))
						.map((container) -> Optional
							.ofNullable(registry.getListenerContainer(String.valueOf(container.getMainListenerId())))))
					.flatMap(Optional::stream)
					.filter((main) -> main.getGroupId() != null)
					.findFirst());
	}

	private static Stream<AbstractMessageListenerContainer<?, ?>> containers(BeanFactory beanFactory) {
		return beanFactory.getBeanProvider(KafkaListenerEndpointRegistry.class)
			.stream()
			.flatMap((registry) -> registry.getListenerContainers().stream())
			.filter(AbstractMessageListenerContainer.class::isInstance)
			.map((container) -> (AbstractMessageListenerContainer<?, ?>) container);
	}

	/**
	 * Adds a {@link KafkaBackOff} to the error handling of all containers before they
	 * start. The containers of retry topics do not retry.
	 */
	static void addBackOffs(BeanFactory beanFactory) {
		containers(beanFactory)
			.filter((container) -> !(listenerOf(container) instanceof KafkaBackoffAwareMessageListenerAdapter))
			.forEach(KafkaBroker::addBackOff);
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
