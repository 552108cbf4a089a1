package io.idempotency.message.kafka;

import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.IdempotentOperationSource;
import io.idempotency.aop.KeySource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.KafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpoint;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.config.MethodKafkaListenerEndpoint;
import org.springframework.kafka.config.MultiMethodKafkaListenerEndpoint;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.retrytopic.DltStrategy;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Spring Kafka's registry, which prepares each container for guarded calls when it is
 * made: those of the start, and those that the application makes later. A container whose
 * guarded listener would lose records is refused.
 */
class GuardedContainerRegistry extends KafkaListenerEndpointRegistry {

	/**
	 * How an expression names the topic: an id of one is a value like others. What other
	 * code gives, called by the expression, may have it in it.
	 */
	private static final Pattern TOPIC = Pattern.compile("topic(_?name)?\\b|@|\\bT\\(", Pattern.CASE_INSENSITIVE);

	private static final Logger logger = LoggerFactory.getLogger(GuardedContainerRegistry.class);

	/** Spring Kafka has it since 4.0. */
	private static final @Nullable Class<?> SHARE_CONTAINER = share(
			"org.springframework.kafka.listener.AbstractShareKafkaMessageListenerContainer");

	/** By operation and consumer group. */
	private final Map<String, Set<String>> topics = new ConcurrentHashMap<>();

	private @Nullable ApplicationContext context;

	private static @Nullable Class<?> share(String name) {
		ClassLoader classLoader = GuardedContainerRegistry.class.getClassLoader();
		return ClassUtils.isPresent(name, classLoader) ? ClassUtils.resolveClassName(name, classLoader) : null;
	}

	@Override
	public void setApplicationContext(ApplicationContext context) {
		super.setApplicationContext(context);
		this.context = context;
	}

	@Override
	protected MessageListenerContainer createListenerContainer(KafkaListenerEndpoint endpoint,
			KafkaListenerContainerFactory<?> factory) {
		MessageListenerContainer created = super.createListenerContainer(endpoint, factory);
		if (created instanceof AbstractMessageListenerContainer<?, ?> container) {
			List<IdempotentOperation> guarded = guardedMethods(endpoint);
			guarded.forEach((operation) -> {
				checkRetryTopics(operation, endpoint);
				check(operation, container.getContainerProperties());
				if (endpoint.getMainListenerId() == null) {
					checkTopics(operation, endpoint, container.getGroupId());
				}
			});
			new KafkaErrorHandling(container, !guarded.isEmpty()).complete();
		}
		else if (SHARE_CONTAINER != null && SHARE_CONTAINER.isInstance(created)) {
			guardedMethods(endpoint).forEach(GuardedContainerRegistry::refuseShare);
		}
		return created;
	}

	private static void refuseShare(IdempotentOperation operation) {
		throw operation.problem(
				"its container is one of a share group, which rejects a record whose listener throws: one whose first "
						+ "delivery still runs, or whose store is down, would be lost",
				"Use a container of a consumer group, e.g. by a ConcurrentKafkaListenerContainerFactory");
	}

	/**
	 * Refuses a handler of dead letters whose refusals would become dead letters of the
	 * same topic, without an end, and warns of retry topics that take no record whose
	 * first call still runs.
	 */
	private static void checkRetryTopics(IdempotentOperation operation, KafkaListenerEndpoint endpoint) {
		Class<?> type = operation.guarded().targetClass();
		List<RetryableTopic> topics = Stream
			.concat(Stream.of(type), Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(type)))
			.map((element) -> AnnotatedElementUtils.findMergedAnnotation(element, RetryableTopic.class))
			.filter(Objects::nonNull)
			.toList();
		if (!AnnotatedElementUtils.hasAnnotation(operation.guarded().method(), DltHandler.class)) {
			// Each of its retry topics has an endpoint of its own.
			if (endpoint.getMainListenerId() == null && topics.stream().anyMatch(KafkaBackOff::isLeftOutOf)) {
				logger
					.warn("The retry topics of '{}' do not take a record whose first delivery still runs elsewhere, or "
							+ "whose store is down: it goes to the dead letters at once, and is lost where there are none. Add "
							+ "IdempotencyInProgressException and IdempotencyStoreUnavailableException to what "
							+ "@RetryableTopic includes, and to nothing that it excludes", operation.name());
			}
			return;
		}
		if (topics.stream().anyMatch((topic) -> topic.dltStrategy() == DltStrategy.ALWAYS_RETRY_ON_ERROR)) {
			throw operation.problem(
					"it handles dead letters, and by its @RetryableTopic each of its exceptions sends the record to the "
							+ "dead letter topic again: a duplicate that is refused would do so without a pause or an end",
					"Set dltStrategy = DltStrategy.FAIL_ON_ERROR on @RetryableTopic; or call a guarded method of another "
							+ "bean from here, and catch what it throws");
		}
	}

	/**
	 * Refuses a key that two topics would share: the consumer group is part of each key,
	 * and the topic is not. Here the names are known, whatever expressions gave them.
	 */
	private void checkTopics(IdempotentOperation operation, KafkaListenerEndpoint endpoint, @Nullable String group) {
		Set<String> topics = this.topics.computeIfAbsent(operation.name() + " of " + group,
				(ignored) -> ConcurrentHashMap.newKeySet());
		topics.addAll(endpoint.getTopics());
		Stream.ofNullable(endpoint.getTopicPartitionsToAssign())
			.flatMap(Stream::of)
			.map(TopicPartitionOffset::getTopic)
			.forEach(topics::add);
		boolean several = topics.size() > 1 || endpoint.getTopicPattern() != null;
		if (several && operation.key().scope() == null && operation.key().source() instanceof KeySource.Spel key
				&& !key.expression().calls("messageId") && !namesTopic(key.expression().toString(), operation)) {
			throw operation.problem(
					"it listens to several topics, and its key does not say which: a record of one of them would be "
							+ "skipped as done because a record of another has the same key",
					"Put the topic into the key, e.g. key = \"{#record.topic(), #record.key()}\"; or set scope where the "
							+ "topics mean the same, e.g. scope = \"'orders'\"");
		}
	}

	private static boolean namesTopic(String key, IdempotentOperation operation) {
		return TOPIC.matcher(key).find()
				|| Arrays.stream(operation.guarded().method().getParameters()).anyMatch((parameter) -> {
					Header header = AnnotatedElementUtils.findMergedAnnotation(parameter, Header.class);
					return header != null && header.name().equals(KafkaHeaders.RECEIVED_TOPIC)
							&& key.matches(".*#" + parameter.getName() + "\\b.*");
				});
	}

	/** Refuses a listener whose duplicates nobody could acknowledge. */
	private static void check(IdempotentOperation operation, ContainerProperties container) {
		boolean manual = container.isAsyncAcks() || container.getAckMode() == AckMode.MANUAL
				|| container.getAckMode() == AckMode.MANUAL_IMMEDIATE;
		if (!manual || operation.result().async()) {
			return;
		}
		if (Arrays.stream(operation.guarded().method().getParameters())
			.noneMatch(GuardedContainerRegistry::carriesAcknowledgment)) {
			throw operation.problem(
					"its container leaves the acknowledgement to the listener, but none of its parameters holds one, so "
							+ "nobody would acknowledge a duplicate",
					"Add a parameter, e.g. Acknowledgment acknowledgment, return a CompletableFuture, or let the "
							+ "container acknowledge, e.g. by AckMode.RECORD");
		}
		if (container.isAsyncAcks() && operation.place().transactions() != null) {
			throw operation.problem(
					"transaction = JOIN ends with the return of the listener, but its container acknowledges out of "
							+ "order, so the work may go on in another thread",
					"Remove asyncAcks of the container, or set transaction = TransactionMode.SEPARATE");
		}
	}

	private static boolean carriesAcknowledgment(Parameter parameter) {
		Class<?> type = parameter.getType();
		return type == Acknowledgment.class || Message.class.isAssignableFrom(type)
				|| Map.class.isAssignableFrom(type) && (MessageHeaders.class.isAssignableFrom(type)
						|| AnnotatedElementUtils.hasAnnotation(parameter, Headers.class));
	}

	private List<IdempotentOperation> guardedMethods(KafkaListenerEndpoint endpoint) {
		if (!(endpoint instanceof MethodKafkaListenerEndpoint<?, ?> listener) || this.context == null) {
			return List.of();
		}
		IdempotentOperationSource source = this.context.getBean(IdempotentOperationSource.class);
		Class<?> type = AopProxyUtils.ultimateTargetClass(listener.getBean());
		List<Method> methods = (listener instanceof MultiMethodKafkaListenerEndpoint<?, ?> several)
				? several.getMethods() : List.of(listener.getMethod());
		return methods.stream().map((method) -> source.operation(method, type)).filter(Objects::nonNull).toList();
	}

}
