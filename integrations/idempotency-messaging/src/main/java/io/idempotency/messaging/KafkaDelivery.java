package io.idempotency.messaging;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;

import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.interceptor.OperationCall;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.converter.ConversionException;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.GenericMessage;

/**
 * A delivery of a Kafka record. Its listener acknowledges or returns the record by an
 * {@link Acknowledgment}, or returns it by a seek of the {@link Consumer}. Both are
 * arguments or headers.
 */
final class KafkaDelivery extends Delivery {

	@SuppressWarnings("unchecked")
	private static final Class<Consumer<?, ?>> CONSUMER = (Class<Consumer<?, ?>>) (Class<?>) Consumer.class;

	private final KafkaBroker broker;

	private final Thread thread = Thread.currentThread();

	/** {@code null} if the container acknowledges. */
	private final @Nullable Acknowledgment acknowledgment;

	private final @Nullable Position position;

	KafkaDelivery(KafkaBroker broker, OperationCall call, ReceivedMessage message) {
		super(call, message, broker.retryWait(call.operation().options().lease()));
		this.broker = broker;
		this.position = Position.of(call.arguments());
		this.acknowledgment = Arrays.stream(call.arguments())
			.map((argument) -> find(argument, Acknowledgment.class, KafkaHeaders.ACKNOWLEDGMENT))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	@Override
	@Nullable Object replace(@Nullable Object argument, Class<?> type) {
		Object replaced = replaced(argument, Acknowledgment.class, KafkaHeaders.ACKNOWLEDGMENT, this::intercepted);
		Position own = this.position;
		return (own == null) ? replaced : replaced(replaced, Consumer.class, KafkaHeaders.CONSUMER,
				(consumer) -> InterceptingProxy.<Consumer<?, ?>>of(consumer, CONSUMER, (method, given, made) -> {
					Object result = made.call();
					// The claim need not end first: the record is delivered by a later
					// poll.
					if (own.isSoughtBy(method, given)) {
						settled(Settlement.RETURNED);
					}
					return result;
				}));
	}

	private Acknowledgment intercepted(Acknowledgment passed) {
		return InterceptingProxy.of(passed, Acknowledgment.class, (method, arguments, call) -> {
			switch (method) {
				case "acknowledge" -> {
					if (hasReturned() && !isSettled() && !staysOpen() && Thread.currentThread() != this.thread) {
						this.broker.warnOfLateAcknowledgement(call().operation());
					}
					settle(Settlement.ACKNOWLEDGED, call::call);
				}
				case "nack" -> settle(Settlement.RETURNED, call::call);
				default -> {
					return call.call();
				}
			}
			return null;
		});
	}

	private static <T> @Nullable T find(@Nullable Object argument, Class<T> type, String header) {
		Object found = (argument instanceof Message<?> message) ? message.getHeaders().get(header)
				: (argument instanceof MessageHeaders headers) ? headers.get(header) : argument;
		return type.isInstance(found) ? type.cast(found) : null;
	}

	private static <T> @Nullable Object replaced(@Nullable Object argument, Class<T> type, String header,
			UnaryOperator<T> replacement) {
		T found = find(argument, type, header);
		if (found == null) {
			return argument;
		}
		if (argument instanceof Message<?> message) {
			return new GenericMessage<>(message.getPayload(),
					new Headers(message.getHeaders(), header, replacement.apply(found)));
		}
		if (argument instanceof MessageHeaders headers) {
			return new Headers(headers, header, replacement.apply(found));
		}
		return replacement.apply(found);
	}

	/**
	 * Leaves the claim open where each record has its own acknowledgment, in any order.
	 * Elsewhere, one acknowledgment includes all records before it, so a listener need
	 * not acknowledge each record that it processed.
	 */
	@Override
	boolean staysOpen() {
		return this.acknowledgment != null && this.acknowledgment.isOutOfOrderCommit()
				&& call().operation().place().transactions() == null;
	}

	@Override
	void acknowledge() {
		if (this.acknowledgment != null) {
			this.acknowledgment.acknowledge();
		}
	}

	/**
	 * The type is that of Kafka. Spring Kafka would wrap another type, and the dead
	 * letter would not contain the reason.
	 */
	@Override
	RuntimeException deadLetter(RuntimeException reason) {
		return new ConversionException(describe(reason), reason);
	}

	/**
	 * Leaves the record to the error handler, which delivers it again. A record whose
	 * outcome is unknown needs an operator, and the handler would give up on it after
	 * some attempts.
	 */
	@Override
	Throwable returnMessage(Throwable why) {
		return (why instanceof IdempotencyOutcomeUnknownException unknown) ? deadLetter(unknown) : why;
	}

	/**
	 * Waits on the consumer thread where records are acknowledged out of order. A record
	 * that such a container delivers again makes it skip the unfinished records before it
	 * if the process crashes.
	 */
	@Override
	boolean waits(Throwable why) {
		boolean outOfOrder = call().operation().result().async()
				|| this.acknowledgment != null && this.acknowledgment.isOutOfOrderCommit();
		return outOfOrder && KafkaBackOff.isUndecided(why) && retryWait().retry();
	}

	/** Headers with one value replaced, and the same id and time. */
	private static final class Headers extends MessageHeaders {

		private static final long serialVersionUID = 1L;

		Headers(MessageHeaders headers, String name, Object value) {
			super(headers, Objects.requireNonNullElse(headers.getId(), ID_VALUE_NONE),
					Objects.requireNonNullElse(headers.getTimestamp(), -1L));
			getRawHeaders().put(name, value);
		}

	}

	/** The position of the record. */
	private record Position(TopicPartition partition, long offset) {

		static @Nullable Position of(@Nullable Object[] arguments) {
			for (Object argument : arguments) {
				if (argument instanceof ConsumerRecord<?, ?> record) {
					return new Position(new TopicPartition(record.topic(), record.partition()), record.offset());
				}
				Map<?, ?> headers = (argument instanceof Message<?> message) ? message.getHeaders()
						: (argument instanceof MessageHeaders own) ? own : Map.of();
				if (headers.get(KafkaHeaders.RECEIVED_TOPIC) instanceof String topic
						&& headers.get(KafkaHeaders.RECEIVED_PARTITION) instanceof Integer partition
						&& headers.get(KafkaHeaders.OFFSET) instanceof Long offset) {
					return new Position(new TopicPartition(topic, partition), offset);
				}
			}
			return null;
		}

		boolean isSoughtBy(String method, @Nullable Object[] arguments) {
			return switch (method) {
				case "seek" -> this.partition.equals(arguments[0]) && offsetOf(arguments[1]) <= this.offset;
				case "seekToBeginning" -> arguments[0] instanceof Collection<?> partitions
						&& (partitions.isEmpty() || partitions.contains(this.partition));
				default -> false;
			};
		}

		private static long offsetOf(@Nullable Object target) {
			return (target instanceof Long offset) ? offset
					: ((OffsetAndMetadata) Objects.requireNonNull(target)).offset();
		}

	}

}
