package io.idempotency.message.jms;

import io.idempotency.aop.OperationCall;
import io.idempotency.message.delivery.Delivery;
import io.idempotency.message.delivery.Hold;
import io.idempotency.message.delivery.ReceivedMessage;
import io.idempotency.message.delivery.Watched;
import jakarta.jms.QueueSession;
import jakarta.jms.Session;
import jakarta.jms.TopicSession;
import org.jspecify.annotations.Nullable;

/**
 * A delivery of a message of JMS. The listener speaks through its {@link Session}:
 * {@code rollback} and {@code recover} give the message back, {@code commit} takes it.
 * These calls go through at once, because a session is a transaction: what the listener
 * sends before one of them and what it sends after it are not the same. The next delivery
 * waits for the claim then.
 * <p>
 * The container acknowledges when the listener has returned, and sends back what has
 * failed.
 */
final class JmsDelivery extends Delivery {

	private final Hold hold;

	JmsDelivery(OperationCall call, ReceivedMessage message, JmsBroker broker) {
		super(call, message);
		this.hold = new Hold(call.operation().policy(), broker::isStopped);
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

	private @Nullable Object called(String method, @Nullable Object[] arguments, Watched.Call call) throws Exception {
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
