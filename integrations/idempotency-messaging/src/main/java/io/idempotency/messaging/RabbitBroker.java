package io.idempotency.messaging;

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
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.OperationCall;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** RabbitMQ and its listener containers. */
final class RabbitBroker implements Broker {

	private static final Logger logger = LoggerFactory.getLogger(RabbitBroker.class);

	/** The parameters of a listener that acknowledges its messages. */
	static final String NEEDED = "the Channel and the delivery tag: add Channel channel and "
			+ "@Header(AmqpHeaders.DELIVERY_TAG) long tag, or return a CompletableFuture and leave it to the container";

	private final ConfigurableBeanFactory beanFactory;

	private final Map<List<@Nullable Object>, Boolean> manual = new ConcurrentHashMap<>();

	/** The deliveries without a settlement, by their channels and tags. */
	private final Map<Channel, NavigableMap<Long, Delivery>> open = new HashMap<>();

	RabbitBroker(ConfigurableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void check(GuardedListener listener) {
		IdempotentOperation operation = listener.operation();
		String queue = listener.queue();
		if (queue != null
				&& containers(queue).anyMatch((container) -> container.getAcknowledgeMode() == AcknowledgeMode.NONE)) {
			logger.warn("[IDEM-403] The container of '{}' acknowledges messages before the listener runs: a message "
					+ "is lost if its listener fails, its first call is in progress, or the store is "
					+ "unavailable. Set an acknowledge mode other than NONE.", operation.name());
		}
		if (operation.result().async()) {
			return;
		}
		Set<Boolean> modes = modes(queue, operation);
		// Among several queues, the queue of a message is only known from the message.
		if (modes.size() > 1 && queue != null) {
			throw mixedModes(operation);
		}
		Method method = operation.guarded().method();
		if (modes.equals(Set.of(true))
				&& !(Stream.of(method.getParameterTypes()).anyMatch(Channel.class::isAssignableFrom)
						&& RabbitDeliveryTag.isPassedTo(method))) {
			throw operation
				.problem("it acknowledges its messages itself, but the guard needs to acknowledge or return a "
						+ "message whose call is rejected", "Add " + NEEDED);
		}
	}

	private static IdempotencyConfigurationException mixedModes(IdempotentOperation operation) {
		return operation.problem(
				"some containers of its queue leave the acknowledgement to the listener and others do not, so whether it "
						+ "acknowledges its messages itself is not known",
				"Set ackMode of @RabbitListener");
	}

	@Override
	public Delivery delivery(OperationCall call, ReceivedMessage message, GuardedListener listener) {
		return new RabbitDelivery(this, call, message, (listener.queue() != null) ? listener.queue() : message.queue());
	}

	/**
	 * Returns whether a listener acknowledges its messages itself.
	 * @param queue its queue, {@code null} if it is not known
	 */
	boolean isManual(@Nullable String queue, IdempotentOperation operation) {
		return this.manual.computeIfAbsent(
				Arrays.asList(operation.guarded().method(), operation.guarded().targetClass(), queue), (consumer) -> {
					Set<Boolean> modes = modes(queue, operation);
					if (modes.size() > 1) {
						throw mixedModes(operation);
					}
					return modes.contains(true);
				});
	}

	/** Returns whether the containers of a listener leave the acknowledgement to it. */
	private Set<Boolean> modes(@Nullable String queue, IdempotentOperation operation) {
		Set<Boolean> declared = Stream.of(operation.guarded().method(), operation.guarded().targetClass())
			.flatMap((element) -> AnnotatedElementUtils.findMergedRepeatableAnnotations(element, RabbitListener.class)
				.stream())
			.map((listener) -> String.valueOf(this.beanFactory.resolveEmbeddedValue(listener.ackMode())).trim())
			// Only the containers resolve the value of an expression.
			.filter((mode) -> !mode.isEmpty() && !mode.contains("#{"))
			.map(AcknowledgeMode.MANUAL.name()::equalsIgnoreCase)
			.collect(Collectors.toSet());
		return !declared.isEmpty() ? declared
				: containers(queue).map((container) -> container.getAcknowledgeMode() == AcknowledgeMode.MANUAL)
					.collect(Collectors.toSet());
	}

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

	/** Adds a delivery whose listener returned without a settlement. */
	void opened(Channel channel, long tag, Delivery delivery) {
		synchronized (this.open) {
			this.open.keySet().removeIf((known) -> !known.isOpen());
			this.open.computeIfAbsent(channel, (ignored) -> new TreeMap<>()).put(tag, delivery);
		}
	}

	boolean hasOpen(Channel channel) {
		synchronized (this.open) {
			return this.open.containsKey(channel);
		}
	}

	/**
	 * Removes the deliveries that are settled.
	 * @param tag the tag; 0 means the last one
	 * @param multiple whether the deliveries before it are settled, too
	 */
	List<Delivery> removeOpen(Channel channel, long tag, boolean multiple) {
		synchronized (this.open) {
			NavigableMap<Long, Delivery> known = this.open.get(channel);
			if (known == null) {
				return List.of();
			}
			NavigableMap<Long, Delivery> settled = (multiple && tag == 0) ? known
					: known.subMap(multiple ? 0L : tag, true, tag, true);
			List<Delivery> deliveries = List.copyOf(settled.values());
			settled.clear();
			if (known.isEmpty()) {
				this.open.remove(channel);
			}
			return deliveries;
		}
	}

}
