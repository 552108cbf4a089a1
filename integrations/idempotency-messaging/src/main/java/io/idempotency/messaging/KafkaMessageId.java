package io.idempotency.messaging;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Creates the id of a Kafka record: topic, partition and offset. A record of a retry
 * topic or a dead letter topic has the id of the record that failed first, because it is
 * the same message.
 */
final class KafkaMessageId {

	private static final List<String> PREFIXES = List.of("kafka_original-", "kafka_dlt-original-");

	/** The end of the name of such a topic, after the name of the first topic. */
	private static final Pattern REPEATED = Pattern.compile(
			"[-._](.*[-._])?(retr(y|ies)\\w*|dl[tq]\\w*|dead[-._]?letter\\w*|dead$)([-._].*)?",
			Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

	private KafkaMessageId() {
	}

	/**
	 * Returns the id. A listener may copy the headers that name the first record to
	 * another message, and a producer may set them. So they count only if the topic of
	 * the record repeats the topic that they name.
	 * @param repeats whether the container of the listener repeats the records of a topic
	 */
	static String of(ReceivedMessage message, Predicate<String> repeats, String topic, int partition, long offset) {
		for (String prefix : PREFIXES) {
			List<Object> topics = message.headers(prefix + "topic");
			List<Object> partitions = message.headers(prefix + "partition");
			List<Object> offsets = message.headers(prefix + "offset");
			// Each topic on the way may append its own headers.
			for (int i = 0; i < Math.min(topics.size(), Math.min(partitions.size(), offsets.size())); i++) {
				String first = text(topics.get(i));
				Number firstPartition = number(partitions.get(i), Integer.BYTES);
				Number firstOffset = number(offsets.get(i), Long.BYTES);
				if (first != null && firstPartition != null && firstOffset != null
						&& (isRepeated(topic, first) || repeats.test(first))) {
					return id(first, firstPartition, firstOffset);
				}
			}
		}
		return id(topic, partition, offset);
	}

	private static boolean isRepeated(String topic, String first) {
		return topic.startsWith(first) && REPEATED.matcher(topic.substring(first.length())).matches();
	}

	private static String id(String topic, Number partition, Number offset) {
		return topic + "-" + partition + "-" + offset;
	}

	/** ISO 8859-1, so that different bytes never make the same id. */
	private static @Nullable String text(Object value) {
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.ISO_8859_1)
				: (value instanceof String text) ? text : null;
	}

	private static @Nullable Number number(Object value, int size) {
		if (value instanceof byte[] bytes && bytes.length == size) {
			ByteBuffer buffer = ByteBuffer.wrap(bytes);
			return (size == Integer.BYTES) ? (Number) buffer.getInt() : (Number) buffer.getLong();
		}
		return (value instanceof Integer || value instanceof Long) ? (Number) value : null;
	}

}
