package io.idempotency.message.rabbit;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.rabbitmq.client.Channel;
import io.idempotency.Internal;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.OperationCall;
import io.idempotency.message.delivery.Broker;
import io.idempotency.message.delivery.Delivery;
import io.idempotency.message.delivery.ReceivedMessage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Knows the containers of RabbitMQ's listeners.
 *
 * @hidden
 */
@Internal
public final class RabbitBroker implements Broker {

	private static final Logger logger = LoggerFactory.getLogger(RabbitBroker.class);

	/** What the parameters of a listener that acknowledges by itself must hold. */
	static final String NEEDED = "the Channel and the delivery tag: add Channel channel and "
			+ "@Header(AmqpHeaders.DELIVERY_TAG) long tag, or return a CompletableFuture and leave it to the container";

	private final BeanFactory beanFactory;

	private final Map<Consumer, Boolean> manual = new ConcurrentHashMap<>();

	/** The deliveries without a word, by their channels and tags. */
	private final Map<Channel, NavigableMap<Long, Delivery>> open = new HashMap<>();

	public RabbitBroker(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void check(IdempotentOperation operation, @Nullable String source) {
		if (source != null
				&& containers(source).anyMatch((container) -> container.getAcknowledgeMode() == AcknowledgeMode.NONE)) {
			logger.warn("""
					The container of '{}' acknowledges messages before the listener runs: one that fails, whose first \
					call still runs, or whose store is down is lost. Set another acknowledge mode than NONE""",
					operation.name());
		}
		if (operation.result().async()) {
			return;
		}
		Set<Boolean> modes = modes(source, operation);
		// Which of several queues a message comes from is known with the message only.
		if (modes.size() > 1 && source != null) {
			throw operation.problem(
					"its queue has containers that leave it to their listeners to acknowledge, and others that do "
							+ "not, and nothing tells the guard whether it acknowledges its messages by itself",
					"Set ackMode of @RabbitListener");
		}
		if (!Set.of(true).equals(modes)) {
			return;
		}
		boolean speaks = Stream.of(operation.guarded().method().getParameterTypes())
			.anyMatch(Channel.class::isAssignableFrom);
		if (!speaks || !RabbitTag.isToldTo(operation.guarded().method())) {
			throw operation.problem(
					"it acknowledges its messages by itself, and nothing tells the guard how to do so for a message "
							+ "that is skipped or sent back",
					"Give it " + NEEDED);
		}
	}

	@Override
	public Delivery delivery(OperationCall call, ReceivedMessage message, @Nullable String source) {
		return new RabbitDelivery(this, call, message, (source != null) ? source : message.source());
	}

	/**
	 * Returns whether a listener acknowledges by itself.
	 * @param queue its queue, {@code null} if it is not known
	 */
	boolean isManual(@Nullable String queue, IdempotentOperation operation) {
		return this.manual.computeIfAbsent(
				new Consumer(operation.guarded().method(), operation.guarded().targetClass(), queue),
				(consumer) -> findMode(queue, operation));
	}

	private boolean findMode(@Nullable String queue, IdempotentOperation operation) {
		Set<Boolean> modes = modes(queue, operation);
		if (modes.size() > 1) {
			throw new IllegalStateException("Whether '" + operation.name()
					+ "' acknowledges its messages by itself cannot be told, because its queue has containers "
					+ "that do and others that do not: set ackMode of @RabbitListener");
		}
		return modes.contains(true);
	}

	/** Returns whether the containers of a listener leave the acknowledgement to it. */
	private Set<Boolean> modes(@Nullable String queue, IdempotentOperation operation) {
		Set<Boolean> declared = declaredModes(operation).map(AcknowledgeMode.MANUAL.name()::equalsIgnoreCase)
			.collect(Collectors.toSet());
		return !declared.isEmpty() ? declared
				: containers(queue).map((container) -> container.getAcknowledgeMode() == AcknowledgeMode.MANUAL)
					.collect(Collectors.toSet());
	}

	private Stream<String> declaredModes(IdempotentOperation operation) {
		return Stream.of(operation.guarded().method(), operation.guarded().targetClass())
			.flatMap((element) -> AnnotatedElementUtils.findMergedRepeatableAnnotations(element, RabbitListener.class)
				.stream())
			.map(RabbitListener::ackMode)
			.map(this::resolved)
			.filter((mode) -> !mode.isEmpty());
	}

	/** Resolves placeholders; what an expression gives is known to the containers. */
	private String resolved(String mode) {
		String text = (this.beanFactory instanceof ConfigurableBeanFactory factory) ? factory.resolveEmbeddedValue(mode)
				: mode;
		return (text != null && !text.contains("#{")) ? text.trim() : "";
	}

	/** Returns whether no container gives messages of a queue any more. */
	boolean isStopped(@Nullable String queue) {
		return containers(queue).noneMatch(AbstractMessageListenerContainer::isActive);
	}

	private Stream<AbstractMessageListenerContainer> containers(@Nullable String queue) {
		return this.beanFactory.getBeanProvider(RabbitListenerEndpointRegistry.class)
			.stream()
			.flatMap((registry) -> registry.getListenerContainers().stream())
			.filter(AbstractMessageListenerContainer.class::isInstance)
			.map(AbstractMessageListenerContainer.class::cast)
			.filter((container) -> queue == null || Arrays.asList(container.getQueueNames()).contains(queue));
	}

	/** Notes a delivery whose listener has returned without a word. */
	void opened(Channel channel, long tag, Delivery delivery) {
		synchronized (this.open) {
			this.open.keySet().removeIf((known) -> !known.isOpen());
			this.open.computeIfAbsent(channel, (ignored) -> new TreeMap<>()).put(tag, delivery);
		}
	}

	/** Returns whether a channel has deliveries without a word. */
	boolean hasOpen(Channel channel) {
		synchronized (this.open) {
			return this.open.containsKey(channel);
		}
	}

	/**
	 * Takes the deliveries about which a word is said.
	 * @param tag the tag that is named; 0 stands for the last one
	 * @param andEarlier whether those before it are meant, too
	 */
	List<Delivery> takeOpen(Channel channel, long tag, boolean andEarlier) {
		synchronized (this.open) {
			NavigableMap<Long, Delivery> known = this.open.get(channel);
			if (known == null) {
				return List.of();
			}
			NavigableMap<Long, Delivery> meant = (andEarlier && tag == 0) ? known
					: known.subMap(andEarlier ? 0L : tag, true, tag, true);
			List<Delivery> deliveries = List.copyOf(meant.values());
			meant.clear();
			if (known.isEmpty()) {
				this.open.remove(channel);
			}
			return deliveries;
		}
	}

	/** A listener of one queue. */
	private record Consumer(Method method, Class<?> targetClass, @Nullable String queue) {
	}

}
