package io.idempotency.message.kafka;

import java.lang.reflect.Field;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.CommonContainerStoppingErrorHandler;
import org.springframework.kafka.listener.CommonDelegatingErrorHandler;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.CommonMixedErrorHandler;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.FailedRecordProcessor;
import org.springframework.kafka.listener.adapter.AsyncRepliesAware;
import org.springframework.kafka.listener.adapter.KafkaBackoffAwareMessageListenerAdapter;
import org.springframework.util.ReflectionUtils;

/**
 * The error handling of one container, before it starts. Whatever gives a record up after
 * some tries gets a {@link KafkaBackOff}, and what cannot have one is told. Retry topics
 * are left as they are: their tries are topics.
 */
final class KafkaErrorHandling {

	private static final Logger logger = LoggerFactory.getLogger(KafkaErrorHandling.class);

	private final AbstractMessageListenerContainer<?, ?> container;

	private final boolean guarded;

	/**
	 * Creates the view of a container.
	 * @param container the container, which does not run yet
	 * @param guarded whether its listener is guarded; another one may call guarded
	 * methods, but gets no warnings
	 */
	KafkaErrorHandling(AbstractMessageListenerContainer<?, ?> container, boolean guarded) {
		this.container = container;
		this.guarded = guarded;
	}

	void complete() {
		if (this.container.getContainerProperties()
			.getMessageListener() instanceof KafkaBackoffAwareMessageListenerAdapter) {
			return;
		}
		boolean transactional = isTransactional(this.container.getContainerProperties());
		if (this.container.getCommonErrorHandler() == null && !transactional) {
			DefaultErrorHandler handler = new DefaultErrorHandler();
			handler.setSeekAfterError(!isAsync());
			this.container.setCommonErrorHandler(handler);
		}
		CommonErrorHandler handler = this.container.getCommonErrorHandler();
		if (handler != null) {
			giveBackOff(handler);
			checkSeeks(handler);
		}
		if (transactional) {
			giveBackOff(this.container.getAfterRollbackProcessor());
		}
	}

	private void giveBackOff(Object handler) {
		if (!canWait(handler) && this.guarded) {
			logger.warn("The Kafka listener '{}' has an error handling that cannot wait ({}): a record whose first "
					+ "delivery still runs elsewhere, or whose store is down, is given up after its tries, and is lost if "
					+ "the other delivery fails. Use a DefaultErrorHandler, or with transactions a "
					+ "DefaultAfterRollbackProcessor, whose back-off has one retry at least, e.g. new FixedBackOff(1000, 9)",
					this.container.getListenerId(), handler.getClass().getSimpleName());
		}
	}

	private static boolean canWait(@Nullable Object handler) {
		if (handler instanceof FailedRecordProcessor processor) {
			return KafkaBackOff.giveTo(processor);
		}
		if (handler instanceof CommonDelegatingErrorHandler) {
			return canWait(value(handler, CommonDelegatingErrorHandler.class, "defaultErrorHandler"))
					&& canDelegatesWait(value(handler, CommonDelegatingErrorHandler.class, "delegates"));
		}
		if (handler instanceof CommonMixedErrorHandler) {
			return canWait(value(handler, CommonMixedErrorHandler.class, "recordErrorHandler"));
		}
		return handler instanceof CommonContainerStoppingErrorHandler;
	}

	/** Those whose exceptions are others are not asked. */
	private static boolean canDelegatesWait(@Nullable Object delegates) {
		return !(delegates instanceof Map<?, ?> handlers) || handlers.entrySet()
			.stream()
			.filter((delegate) -> delegate.getKey() instanceof Class<?> type && KafkaBackOff.isUndecided(type))
			.allMatch((delegate) -> canWait(delegate.getValue()));
	}

	/**
	 * Up to Spring Kafka 3.3, a container that acknowledges out of order waits for the
	 * records that such a handler takes back, and never asks the broker for them.
	 */
	private void checkSeeks(CommonErrorHandler handler) {
		if (this.guarded && isAsync() && handler.seeksAfterHandling()) {
			logger
				.warn("The Kafka listener '{}' acknowledges out of order, and its error handler ({}) seeks: with Spring "
						+ "Kafka 3.3 the first exception stops its partition for good. Call setSeekAfterError(false) on the "
						+ "handler", this.container.getListenerId(), handler.getClass().getSimpleName());
		}
	}

	private boolean isAsync() {
		ContainerProperties properties = this.container.getContainerProperties();
		return properties.isAsyncAcks()
				|| properties.getMessageListener() instanceof AsyncRepliesAware listener && listener.isAsyncReplies();
	}

	/**
	 * Returns whether a container has transactions: then the records are repeated after
	 * the roll-back. The property for other transaction managers is not on all lines.
	 */
	private static boolean isTransactional(ContainerProperties properties) {
		BeanWrapper wrapper = PropertyAccessorFactory.forBeanPropertyAccess(properties);
		return isSet(wrapper, "kafkaAwareTransactionManager") || isSet(wrapper, "transactionManager");
	}

	private static boolean isSet(BeanWrapper properties, String name) {
		return properties.isReadableProperty(name) && properties.getPropertyValue(name) != null;
	}

	/**
	 * Reads what Spring Kafka does not tell otherwise.
	 * @return the value, {@code null} where there is no such field
	 */
	static @Nullable Object value(Object target, Class<?> type, String name) {
		Field field = ReflectionUtils.findField(type, name);
		if (field == null) {
			return null;
		}
		ReflectionUtils.makeAccessible(field);
		return ReflectionUtils.getField(field, target);
	}

}
