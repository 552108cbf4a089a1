package io.idempotency.message;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.message.delivery.ReceivedMessage;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

import org.springframework.kafka.support.KafkaHeaders;

/** A record of Kafka. */
final class KafkaRecord implements ReceivedMessage {

	private final ConsumerRecord<?, ?> record;

	private KafkaRecord(ConsumerRecord<?, ?> record) {
		this.record = record;
	}

	static KafkaRecord of(Object argument) {
		return new KafkaRecord((ConsumerRecord<?, ?>) argument);
	}

	@Override
	public List<Object> headers(String name) {
		List<Object> values = new ArrayList<>();
		for (Header header : this.record.headers()) {
			if (header.key().equalsIgnoreCase(name) && header.value() != null) {
				values.add(header.value());
			}
		}
		if (values.isEmpty() && name.equalsIgnoreCase(KafkaHeaders.RECEIVED_KEY) && this.record.key() != null) {
			values.add(this.record.key());
		}
		return values;
	}

	/**
	 * Returns topic, partition and offset. A record that came over a retry topic or from
	 * a dead letter topic has those of the record that failed first, because it is the
	 * same message.
	 */
	@Override
	public String id() {
		String topic = topic(first(KafkaHeaders.ORIGINAL_TOPIC, KafkaHeaders.DLT_ORIGINAL_TOPIC));
		byte[] partition = first(KafkaHeaders.ORIGINAL_PARTITION, KafkaHeaders.DLT_ORIGINAL_PARTITION);
		byte[] offset = first(KafkaHeaders.ORIGINAL_OFFSET, KafkaHeaders.DLT_ORIGINAL_OFFSET);
		if (topic != null && partition != null && partition.length == Integer.BYTES && offset != null
				&& offset.length == Long.BYTES) {
			return id(topic, ByteBuffer.wrap(partition).getInt(), ByteBuffer.wrap(offset).getLong());
		}
		return id(this.record.topic(), this.record.partition(), this.record.offset());
	}

	static String id(String topic, int partition, long offset) {
		return topic + "-" + partition + "-" + offset;
	}

	@Override
	public @Nullable Object payload() {
		return this.record.value();
	}

	/** Returns nothing: the group is that of the consumer and not of the record. */
	@Override
	public @Nullable String source() {
		return null;
	}

	/**
	 * Returns the first value, since each hop over another topic may append one of its
	 * own.
	 */
	private byte @Nullable [] first(String name, String otherName) {
		for (Header header : this.record.headers()) {
			if (header.key().equals(name) && header.value() != null) {
				return header.value();
			}
		}
		return name.equals(otherName) ? null : first(otherName, otherName);
	}

	/**
	 * Reads the name of a topic, which is ASCII. Whatever else somebody has put there
	 * stays apart: bytes that differ never make one id.
	 */
	static @Nullable String topic(byte @Nullable [] value) {
		return (value != null) ? new String(value, StandardCharsets.ISO_8859_1) : null;
	}

}
