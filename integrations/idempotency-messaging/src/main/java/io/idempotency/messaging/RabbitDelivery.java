package io.idempotency.messaging;

import java.io.IOException;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.concurrent.Callable;

import com.rabbitmq.client.Channel;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.interceptor.OperationCall;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.amqp.AmqpRejectAndDontRequeueException;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.amqp.rabbit.connection.ChannelProxy;

/**
 * A delivery of a RabbitMQ message. The listener settles it by its {@link Channel}:
 * {@code basicAck} acknowledges the message; {@code basicNack}, {@code basicReject} and
 * {@code basicRecover} return it, also where they settle several messages. The key of a
 * message that is rejected without requeue is released, too.
 * <p>
 * The container acknowledges for a listener that returns futures, and in each mode except
 * {@code MANUAL}. With {@code MANUAL}, a listener that returned without a settlement is
 * still in progress.
 */
final class RabbitDelivery extends Delivery {

	private static final Logger logger = LoggerFactory.getLogger(RabbitDelivery.class);

	private final RabbitBroker broker;

	private final @Nullable String queue;

	private final @Nullable Channel channel;

	private final @Nullable Long tag;

	RabbitDelivery(RabbitBroker broker, OperationCall call, ReceivedMessage message, @Nullable String queue) {
		super(call, message,
				new RetryWait(call.operation().options().lease().multipliedBy(2), () -> broker.isStopped(queue)));
		this.broker = broker;
		this.queue = queue;
		this.channel = Stream.of(call.arguments())
			.filter(Channel.class::isInstance)
			.map(Channel.class::cast)
			.findFirst()
			.orElse(null);
		this.tag = (this.channel != null) ? RabbitDeliveryTag.of(call) : null;
	}

	@Override
	@Nullable Object replace(@Nullable Object argument, Class<?> type) {
		return (argument instanceof Channel passed && this.tag != null) ? InterceptingProxy.of(passed,
				(passed instanceof ChannelProxy) ? ChannelProxy.class : Channel.class, this::called) : argument;
	}

	private @Nullable Object called(String method, @Nullable Object[] arguments, Callable<@Nullable Object> call)
			throws Exception {
		switch (method) {
			case "basicAck" -> settle(Settlement.ACKNOWLEDGED, (Long) arguments[0], (Boolean) arguments[1], call);
			case "basicNack" -> settle(Settlement.RETURNED, (Long) arguments[0], (Boolean) arguments[1], call);
			case "basicReject" -> settle(Settlement.RETURNED, (Long) arguments[0], false, call);
			case "basicRecover" -> settle(Settlement.RETURNED, 0L, true, call);
			// These must not overtake the pending calls.
			case "txCommit", "txRollback", "close", "abort" -> settle(null, call::call);
			default -> {
				return call.call();
			}
		}
		return null;
	}

	private void settle(Settlement settlement, @Nullable Long tag, @Nullable Boolean multiple,
			Callable<@Nullable Object> call) throws Exception {
		long last = Objects.requireNonNull(tag);
		boolean several = Boolean.TRUE.equals(multiple);
		long own = Objects.requireNonNull(this.tag);
		BrokerCall brokerCall = () -> {
			// Ends the open claims of the other messages that this call settles.
			this.broker.removeOpen(Objects.requireNonNull(this.channel), last, several)
				.forEach((other) -> other.settled(settlement));
			call.call();
		};
		if (last == own || several && (last == 0 || last > own)) {
			settle(settlement, brokerCall);
		}
		else {
			brokerCall.send();
		}
	}

	@Override
	boolean staysOpen() {
		return this.tag != null && this.broker.isManual(this.queue, call().operation());
	}

	@Override
	void opened() {
		this.broker.opened(Objects.requireNonNull(this.channel), Objects.requireNonNull(this.tag), this);
	}

	@Override
	boolean waits(Throwable why) {
		if (this.channel != null && this.broker.hasOpen(this.channel)) {
			// This thread may have to settle the open messages of its channel.
			retryWait().beforeReturn(call().operation().options());
			return false;
		}
		return super.waits(why);
	}

	@Override
	void acknowledge() throws IOException {
		if (isManual()) {
			manually().basicAck(Objects.requireNonNull(this.tag), false);
		}
	}

	/** The container calls no error handler for a future that fails. */
	@Override
	RuntimeException deadLetter(RuntimeException reason) {
		RuntimeException conversion = super.deadLetter(reason);
		return call().operation().result().async()
				? new AmqpRejectAndDontRequeueException(conversion.getMessage(), conversion) : conversion;
	}

	@Override
	@Nullable Throwable returnMessage(Throwable why) throws IOException {
		if (why instanceof RememberedFailureException failure) {
			// Each further delivery would fail at once.
			return deadLetter(failure);
		}
		if (isManual()) {
			logger.warn("[IDEM-401] A message of '{}' is returned to its queue and will be redelivered: {}. No "
					+ "action is needed if the cause is temporary.", call().operation().name(), this, why);
			manually().basicNack(Objects.requireNonNull(this.tag), false, true);
			return null;
		}
		boolean undecided = why instanceof IdempotencyInProgressException
				|| why instanceof IdempotencyStoreUnavailableException;
		// A container with defaultRequeueRejected = false would drop the message.
		return undecided ? new ImmediateRequeueAmqpException(why.getMessage(), why) : why;
	}

	/** Returns whether the listener acknowledges, and not its container. */
	private boolean isManual() {
		return !call().operation().result().async() && this.broker.isManual(this.queue, call().operation());
	}

	private Channel manually() {
		if (this.channel == null || this.tag == null) {
			throw new IllegalStateException("'" + call().operation().name()
					+ "' acknowledges its messages itself, but its parameters lack " + RabbitBroker.NEEDED);
		}
		return this.channel;
	}

}
