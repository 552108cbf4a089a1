package io.idempotency.messaging;

import java.util.stream.Stream;
import java.util.concurrent.Callable;

import io.idempotency.interceptor.OperationCall;
import jakarta.jms.QueueSession;
import jakarta.jms.Session;
import jakarta.jms.TopicSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.Lifecycle;
import org.springframework.jms.config.JmsListenerEndpointRegistry;
import org.springframework.jms.listener.DefaultMessageListenerContainer;
import org.springframework.jms.listener.MessageListenerContainer;

/** A JMS broker and its listener containers. */
final class JmsBroker implements Broker {

	private static final Logger logger = LoggerFactory.getLogger(JmsBroker.class);

	private final BeanFactory beanFactory;

	JmsBroker(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/** Warns of sessions that acknowledge a message before its listener runs. */
	@Override
	public void check(GuardedListener listener) {
		boolean hasty = containers()
			.anyMatch((container) -> container instanceof DefaultMessageListenerContainer polling
					&& (listener.queue() == null || listener.queue().equals(polling.getDestinationName()))
					&& !polling.isSessionTransacted()
					&& polling.getSessionAcknowledgeMode() != Session.CLIENT_ACKNOWLEDGE);
		if (hasty) {
			logger.warn("[IDEM-404] The session of '{}' acknowledges messages before the listener runs: a message is "
					+ "lost if its listener fails, its first call is in progress, or the store is "
					+ "unavailable. Set sessionTransacted = true, unless the container has a "
					+ "JtaTransactionManager.", listener.operation().name());
		}
	}

	@Override
	public Delivery delivery(OperationCall call, ReceivedMessage message, GuardedListener listener) {
		return new JmsDelivery(call, message, this);
	}

	private boolean isStopped() {
		return containers().noneMatch(Lifecycle::isRunning);
	}

	private Stream<? extends MessageListenerContainer> containers() {
		return this.beanFactory.getBeanProvider(JmsListenerEndpointRegistry.class)
			.stream()
			.flatMap((registry) -> registry.getListenerContainers().stream());
	}

	/**
	 * A delivery of a JMS message. The listener settles it by its {@link Session}:
	 * {@code rollback} and {@code recover} return the message, {@code commit}
	 * acknowledges it. These calls are made at once, because a session is a transaction:
	 * messages that the listener sends before and after such a call belong to different
	 * transactions. The next delivery then waits for the claim.
	 * <p>
	 * The container acknowledges when the listener returned, and returns the message if
	 * it failed.
	 */
	private static final class JmsDelivery extends Delivery {

		JmsDelivery(OperationCall call, ReceivedMessage message, JmsBroker broker) {
			super(call, message, new RetryWait(call.operation().options().lease().multipliedBy(2), broker::isStopped));
		}

		@Override
		@Nullable Object replace(@Nullable Object argument, Class<?> type) {
			return (argument instanceof Session session)
					? InterceptingProxy.of(session,
							(type == QueueSession.class) ? QueueSession.class
									: (type == TopicSession.class) ? TopicSession.class : Session.class,
							this::called)
					: argument;
		}

		private @Nullable Object called(String method, @Nullable Object[] arguments, Callable<@Nullable Object> call)
				throws Exception {
			switch (method) {
				case "commit" -> settleNow(Settlement.ACKNOWLEDGED, call::call);
				case "rollback", "recover" -> settleNow(Settlement.RETURNED, call::call);
				default -> {
					return call.call();
				}
			}
			return null;
		}

		@Override
		void acknowledge() {
			// The container does.
		}

		@Override
		Throwable returnMessage(Throwable why) {
			return why;
		}

	}

}
