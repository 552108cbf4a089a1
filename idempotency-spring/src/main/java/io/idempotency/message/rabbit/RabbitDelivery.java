package io.idempotency.message.rabbit;

import java.io.IOException;
import java.util.Objects;

import com.rabbitmq.client.Channel;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.aop.OperationCall;
import io.idempotency.message.delivery.Delivery;
import io.idempotency.message.delivery.Hold;
import io.idempotency.message.delivery.ReceivedMessage;
import io.idempotency.message.delivery.Watched;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.amqp.AmqpRejectAndDontRequeueException;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.amqp.rabbit.connection.ChannelProxy;

/**
 * A delivery of a message of RabbitMQ. The listener speaks through its {@link Channel}:
 * {@code basicAck} takes the message, {@code basicNack}, {@code basicReject} and
 * {@code basicRecover} give it back, also where they do so for several messages at once.
 * A message that is rejected without being queued again is a dead letter, whose key must
 * be free, too.
 * <p>
 * A container acknowledges for a listener that returns futures, and in each mode but
 * {@code MANUAL}. With {@code MANUAL}, a listener that has returned without a word has
 * not ended.
 */
final class RabbitDelivery extends Delivery {

	private static final Logger logger = LoggerFactory.getLogger(RabbitDelivery.class);

	private final RabbitBroker broker;

	private final @Nullable String queue;

	private final @Nullable Channel channel;

	private final @Nullable Long tag;

	private @Nullable Hold hold;

	RabbitDelivery(RabbitBroker broker, OperationCall call, ReceivedMessage message, @Nullable String queue) {
		super(call, message);
		this.broker = broker;
		this.queue = queue;
		this.channel = channel(call.arguments());
		this.tag = (this.channel != null) ? RabbitTag.of(call) : null;
	}

	private static @Nullable Channel channel(@Nullable Object[] arguments) {
		for (Object argument : arguments) {
			if (argument instanceof Channel channel) {
				return channel;
			}
		}
		return null;
	}

	@Override
	protected void watch(@Nullable Object[] arguments) {
		Class<?>[] types = call().operation().guarded().method().getParameterTypes();
		for (int i = 0; i < arguments.length; i++) {
			if (arguments[i] instanceof Channel own && this.tag != null) {
				Class<? extends Channel> type = (own instanceof ChannelProxy) ? ChannelProxy.class : Channel.class;
				arguments[i] = types[i].isAssignableFrom(type) ? Watched.of(own, type, this::called) : own;
			}
		}
	}

	private @Nullable Object called(String method, @Nullable Object[] arguments, Watched.Call call) throws Exception {
		switch (method) {
			case "basicAck" -> said(Word.TAKEN, (Long) arguments[0], (Boolean) arguments[1], call);
			case "basicNack" -> said(Word.GIVEN_BACK, (Long) arguments[0], (Boolean) arguments[1], call);
			case "basicReject" -> said(Word.GIVEN_BACK, (Long) arguments[0], false, call);
			case "basicRecover" -> said(Word.GIVEN_BACK, 0L, true, call);
			// These must not overtake what was told before.
			case "txCommit", "txRollback", "close", "abort" -> tell(null, call::make);
			default -> {
				return call.make();
			}
		}
		return null;
	}

	private void said(Word word, @Nullable Long about, @Nullable Boolean andEarlier, Watched.Call call)
			throws Exception {
		long last = Objects.requireNonNull(about);
		boolean several = Boolean.TRUE.equals(andEarlier);
		long own = Objects.requireNonNull(this.tag);
		Telling telling = () -> {
			concludeOthers(word, last, several);
			call.make();
		};
		if (last == own || several && (last == 0 || last > own)) {
			tell(word, telling);
		}
		else {
			telling.go();
		}
	}

	/** Ends the open claims of other messages of which the listener speaks. */
	private void concludeOthers(Word word, long last, boolean andEarlier) {
		for (Delivery other : this.broker.takeOpen(Objects.requireNonNull(this.channel), last, andEarlier)) {
			other.conclude(word);
		}
	}

	@Override
	protected boolean staysOpen() {
		return this.tag != null && this.broker.isManual(this.queue, call().operation());
	}

	@Override
	protected void opened() {
		this.broker.opened(Objects.requireNonNull(this.channel), Objects.requireNonNull(this.tag), this);
	}

	@Override
	public boolean waits(Throwable why) {
		Hold begun = (this.hold != null) ? this.hold
				: new Hold(call().operation().options(), () -> this.broker.isStopped(this.queue));
		this.hold = begun;
		// This thread may be the one that speaks for messages it has left open.
		return (this.channel != null && this.broker.hasOpen(this.channel)) ? begun.goesBack() : begun.again(why);
	}

	@Override
	public void acknowledge() throws IOException {
		if (isOurs()) {
			manually().basicAck(Objects.requireNonNull(this.tag), false);
		}
	}

	/** The container asks no error handler about a future that fails. */
	@Override
	public RuntimeException deadLetter(RuntimeException reason) {
		RuntimeException conversion = super.deadLetter(reason);
		return call().operation().result().async()
				? new AmqpRejectAndDontRequeueException(conversion.getMessage(), conversion) : conversion;
	}

	@Override
	public @Nullable Throwable sendBack(Throwable why) throws IOException {
		if (why instanceof RememberedFailureException failure) {
			// Nothing will change that, and it would come again at once, without an end.
			return deadLetter(failure);
		}
		if (isOurs()) {
			logger.warn("A message of '{}' goes back to its queue: {}", call().operation().name(), this, why);
			manually().basicNack(Objects.requireNonNull(this.tag), false, true);
			return null;
		}
		boolean undecided = why instanceof IdempotencyInProgressException
				|| why instanceof IdempotencyStoreUnavailableException;
		// Not even a container that drops what fails drops this one.
		return undecided ? new ImmediateRequeueAmqpException(why.getMessage(), why) : why;
	}

	/**
	 * Returns whether nobody else tells the broker anything. Where the container does, a
	 * second word would close the channel.
	 */
	private boolean isOurs() {
		return !call().operation().result().async() && this.broker.isManual(this.queue, call().operation());
	}

	private Channel manually() {
		if (this.channel == null || this.tag == null) {
			throw new IllegalStateException("The container leaves it to '" + call().operation().name()
					+ "' to acknowledge its messages, but its parameters do not hold " + RabbitBroker.NEEDED);
		}
		return this.channel;
	}

}
