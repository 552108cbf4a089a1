package io.idempotency.message.kafka;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.aop.OperationCall;
import io.idempotency.message.delivery.Delivery;
import io.idempotency.message.delivery.ReceivedMessage;
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
 * A delivery of a record of Kafka. Its listener speaks to the broker through an
 * {@link Acknowledgment}, or takes the record back by a seek of the {@link Consumer};
 * both come as arguments or as headers.
 */
final class KafkaDelivery extends Delivery {

	private final KafkaBroker broker;

	private final Thread thread = Thread.currentThread();

	/** How the listener acknowledges, {@code null} if its container does. */
	private final @Nullable Acknowledgment acknowledgment;

	private @Nullable Patience patience;

	KafkaDelivery(KafkaBroker broker, OperationCall call, ReceivedMessage message) {
		super(call, message);
		this.broker = broker;
		this.acknowledgment = Arrays.stream(call.arguments())
			.map((argument) -> find(argument, Acknowledgment.class, KafkaHeaders.ACKNOWLEDGMENT))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	/** Leaves an argument whose parameter takes nothing else, e.g. a KafkaConsumer. */
	@Override
	protected void watch(@Nullable Object[] arguments) {
		@Nullable Position position = Position.of(arguments);
		Class<?>[] types = call().operation().guarded().method().getParameterTypes();
		for (int i = 0; i < arguments.length; i++) {
			Object watched = watched(arguments[i], Acknowledgment.class, KafkaHeaders.ACKNOWLEDGMENT, Watched::new);
			if (position != null) {
				watched = watched(watched, Consumer.class, KafkaHeaders.CONSUMER,
						(consumer) -> watched(consumer, position));
			}
			if (types[i].isInstance(watched)) {
				arguments[i] = watched;
			}
		}
	}

	private static <T> @Nullable T find(@Nullable Object argument, Class<T> type, String header) {
		Object found = (argument instanceof Message<?> message) ? message.getHeaders().get(header)
				: (argument instanceof MessageHeaders headers) ? headers.get(header) : argument;
		return type.isInstance(found) ? type.cast(found) : null;
	}

	private static <T> @Nullable Object watched(@Nullable Object argument, Class<T> type, String header,
			Function<T, T> watch) {
		T found = find(argument, type, header);
		if (found == null) {
			return argument;
		}
		if (argument instanceof Message<?> message) {
			return new GenericMessage<>(message.getPayload(),
					new Headers(message.getHeaders(), header, watch.apply(found)));
		}
		if (argument instanceof MessageHeaders headers) {
			return new Headers(headers, header, watch.apply(found));
		}
		return watch.apply(found);
	}

	/** A seek need not wait: the record comes with a poll, after the return. */
	private Consumer<?, ?> watched(Consumer<?, ?> consumer, Position position) {
		return (Consumer<?, ?>) Proxy.newProxyInstance(Consumer.class.getClassLoader(),
				new Class<?>[] { Consumer.class }, (proxy, method, arguments) -> {
					try {
						Object result = method.invoke(consumer, arguments);
						if (position.isSoughtBy(method.getName(), arguments)) {
							conclude(Word.GIVEN_BACK);
						}
						return result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	/**
	 * Leaves the claim open where each record has an acknowledgment of its own, in any
	 * order. Elsewhere, one acknowledgment stands for all records before it, so a
	 * listener may say nothing about a record that it has processed.
	 */
	@Override
	protected boolean staysOpen() {
		return this.acknowledgment != null && this.acknowledgment.isOutOfOrderCommit();
	}

	@Override
	public void acknowledge() {
		if (this.acknowledgment != null) {
			this.acknowledgment.acknowledge();
		}
	}

	/**
	 * Its type is that of Kafka, because Spring Kafka puts a message of its own around
	 * the other one, and a dead letter would not tell the reason.
	 */
	@Override
	public RuntimeException deadLetter(RuntimeException reason) {
		return new ConversionException(describe(reason), reason);
	}

	/**
	 * Leaves the record to the error handler, which delivers it again. One whose outcome
	 * is unknown waits for a human, and would be given up after some tries.
	 */
	@Override
	public Throwable sendBack(Throwable why) {
		return (why instanceof IdempotencyOutcomeUnknownException unknown) ? deadLetter(unknown) : why;
	}

	/**
	 * Waits on the spot where records are acknowledged out of order: what the container
	 * does there with a record that it delivers again loses sight of those before it, and
	 * a process that dies then has skipped them.
	 */
	@Override
	public boolean waits(Throwable why) {
		boolean outOfOrder = call().operation().result().async() || staysOpen();
		if (!outOfOrder || !KafkaBackOff.isUndecided(why)) {
			return false;
		}
		if (this.patience == null) {
			this.patience = this.broker.patience(call().operation().options().lease());
		}
		return this.patience.pause();
	}

	/** The pauses of one delivery. */
	interface Patience {

		/**
		 * Pauses.
		 * @return whether the delivery may go on; not if its container stops, or must
		 * poll before long
		 */
		boolean pause();

	}

	/** The acknowledgment that the listener gets. */
	private final class Watched implements Acknowledgment {

		private final Acknowledgment delegate;

		Watched(Acknowledgment delegate) {
			this.delegate = delegate;
		}

		@Override
		public void acknowledge() {
			if (hasReturned() && isSilent() && !staysOpen() && Thread.currentThread() != KafkaDelivery.this.thread) {
				KafkaDelivery.this.broker.warnOfLateWord(call().operation());
			}
			say(Word.TAKEN, this.delegate::acknowledge);
		}

		@Override
		public void nack(Duration sleep) {
			say(Word.GIVEN_BACK, () -> this.delegate.nack(sleep));
		}

		@Override
		public void acknowledge(int index) {
			say(Word.TAKEN, () -> this.delegate.acknowledge(index));
		}

		@Override
		public void nack(int index, Duration sleep) {
			say(Word.GIVEN_BACK, () -> this.delegate.nack(index, sleep));
		}

		@Override
		public boolean isOutOfOrderCommit() {
			return this.delegate.isOutOfOrderCommit();
		}

		@Override
		public String toString() {
			return this.delegate.toString();
		}

		private void say(Word word, Runnable telling) {
			try {
				tell(word, telling::run);
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

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

	/** Where the record is. */
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
