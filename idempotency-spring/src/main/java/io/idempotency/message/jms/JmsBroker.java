package io.idempotency.message.jms;

import java.util.stream.Stream;

import io.idempotency.Internal;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.OperationCall;
import io.idempotency.message.delivery.Broker;
import io.idempotency.message.delivery.Delivery;
import io.idempotency.message.delivery.Hold;
import io.idempotency.message.delivery.ReceivedMessage;
import io.idempotency.message.delivery.Watched;
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
import org.springframework.transaction.PlatformTransactionManager;

/**
 * A broker of JMS.
 *
 * @hidden
 */
@Internal
public final class JmsBroker implements Broker {

	private static final Logger logger = LoggerFactory.getLogger(JmsBroker.class);

	private final BeanFactory beanFactory;

	public JmsBroker(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Warns of sessions that acknowledge a message as it is received: what is sent back
	 * there is lost.
	 */
	@Override
	public void check(IdempotentOperation operation, @Nullable String source) {
		boolean known = containers()
			.anyMatch((container) -> container instanceof DefaultMessageListenerContainer polling
					&& (source == null || source.equals(polling.getDestinationName())) && !polling.isSessionTransacted()
					&& polling.getSessionAcknowledgeMode() != Session.CLIENT_ACKNOWLEDGE);
		if (known && !receivesInTransactions()) {
			logger.warn("""
					The session of '{}' acknowledges messages before the listener runs: one that fails, whose first \
					call still runs, or whose store is down is lost. Set sessionTransacted = true""", operation.name());
		}
	}

	/** Returns whether messages may be received in a transaction around the session. */
	private boolean receivesInTransactions() {
		return this.beanFactory.getBeanProvider(PlatformTransactionManager.class)
			.stream()
			.anyMatch((manager) -> isJta(manager.getClass()));
	}

	/** By name, because the class needs JTA. */
	private static boolean isJta(@Nullable Class<?> type) {
		return type != null && (type.getName().equals("org.springframework.transaction.jta.JtaTransactionManager")
				|| isJta(type.getSuperclass()));
	}

	@Override
	public Delivery delivery(OperationCall call, ReceivedMessage message, @Nullable String source) {
		return new JmsDelivery(call, message, this);
	}

	/** Returns whether no container gives messages any more. */
	boolean isStopped() {
		return containers().noneMatch(Lifecycle::isRunning);
	}

	private Stream<? extends MessageListenerContainer> containers() {
		return this.beanFactory.getBeanProvider(JmsListenerEndpointRegistry.class)
			.stream()
			.flatMap((registry) -> registry.getListenerContainers().stream());
	}

	/**
	 * A delivery of a message of JMS. The listener speaks through its {@link Session}:
	 * {@code rollback} and {@code recover} give the message back, {@code commit} takes
	 * it. These calls go through at once, because a session is a transaction: what the
	 * listener sends before one of them and what it sends after it are not the same. The
	 * next delivery waits for the claim then.
	 * <p>
	 * The container acknowledges when the listener has returned, and sends back what has
	 * failed.
	 */
	private static final class JmsDelivery extends Delivery {

		private final Hold hold;

		JmsDelivery(OperationCall call, ReceivedMessage message, JmsBroker broker) {
			super(call, message);
			this.hold = new Hold(call.operation().options(), broker::isStopped);
		}

		@Override
		protected void watch(@Nullable Object[] arguments) {
			Class<?>[] types = call().operation().guarded().method().getParameterTypes();
			for (int i = 0; i < arguments.length; i++) {
				if (arguments[i] instanceof Session own) {
					Class<? extends Session> type = (types[i] == QueueSession.class) ? QueueSession.class
							: (types[i] == TopicSession.class) ? TopicSession.class : Session.class;
					arguments[i] = types[i].isAssignableFrom(type) ? Watched.of(own, type, this::called) : own;
				}
			}
		}

		private @Nullable Object called(String method, @Nullable Object[] arguments, Watched.Call call)
				throws Exception {
			switch (method) {
				case "commit" -> tellAtOnce(Word.TAKEN, call::make);
				case "rollback", "recover" -> tellAtOnce(Word.GIVEN_BACK, call::make);
				default -> {
					return call.make();
				}
			}
			return null;
		}

		@Override
		public boolean waits(Throwable why) {
			return this.hold.again(why);
		}

		@Override
		public void acknowledge() {
			// The container does.
		}

		@Override
		public Throwable sendBack(Throwable why) {
			return why;
		}

	}

}
