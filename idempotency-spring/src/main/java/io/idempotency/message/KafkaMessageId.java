package io.idempotency.message;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import io.idempotency.message.delivery.ReceivedMessage;
import org.jspecify.annotations.Nullable;

/**
 * The id of a record of Kafka: topic, partition and offset. A record that came over a
 * retry topic or from a dead letter topic has those of the record that failed first,
 * because it is the same message.
 */
final class KafkaMessageId {

	private static final List<String> PREFIXES = List.of("kafka_original-", "kafka_dlt-original-");

	/** What the names of such topics have behind that of the first. */
	private static final Pattern REPEATED = Pattern.compile(
			"[-._](.*[-._])?(retr(y|ies)\\w*|dl[tq]\\w*|dead[-._]?letter\\w*|dead$)([-._].*)?",
			Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

	private KafkaMessageId() {
	}

	/**
	 * Returns the id. The headers that name the first record are sent on with whatever a
	 * listener makes of it, and anybody may set them: they count only where the record's
	 * own topic repeats the records of that other one.
	 * @param repeats whether the listener's container repeats the records of a topic,
	 * whatever its own is called
	 */
	static String of(ReceivedMessage message, Predicate<String> repeats, String topic, int partition, long offset) {
		for (String prefix : PREFIXES) {
			List<Object> topics = message.headers(prefix + "topic");
			List<Object> partitions = message.headers(prefix + "partition");
			List<Object> offsets = message.headers(prefix + "offset");
			// Each hop over another topic may append its own.
			for (int i = 0; i < Math.min(topics.size(), Math.min(partitions.size(), offsets.size())); i++) {
				String first = text(topics.get(i));
				Integer itsPartition = number(partitions.get(i));
				Long itsOffset = longNumber(offsets.get(i));
				if (first != null && itsPartition != null && itsOffset != null
						&& (isRepeated(topic, first) || repeats.test(first))) {
					return id(first, itsPartition, itsOffset);
				}
			}
		}
		return id(topic, partition, offset);
	}

	private static boolean isRepeated(String topic, String first) {
		return topic.startsWith(first) && REPEATED.matcher(topic.substring(first.length())).matches();
	}

	private static String id(String topic, int partition, long offset) {
		return topic + "-" + partition + "-" + offset;
	}

	/**
	 * Reads the name of a topic, which is ASCII. Whatever else somebody has put there
	 * stays apart: bytes that differ never make one id.
	 */
	private static @Nullable String text(Object value) {
		return (value instanceof byte[] bytes) ? new String(bytes, StandardCharsets.ISO_8859_1)
				: (value instanceof String text) ? text : null;
	}

	private static @Nullable Integer number(Object value) {
		if (value instanceof byte[] bytes && bytes.length == Integer.BYTES) {
			return ByteBuffer.wrap(bytes).getInt();
		}
		return (value instanceof Integer number) ? number : null;
	}

	private static @Nullable Long longNumber(Object value) {
		if (value instanceof byte[] bytes && bytes.length == Long.BYTES) {
			return ByteBuffer.wrap(bytes).getLong();
		}
		return (value instanceof Long number) ? number : null;
	}

}
