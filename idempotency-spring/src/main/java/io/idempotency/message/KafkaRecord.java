package io.idempotency.message;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.idempotency.message.delivery.ReceivedMessage;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

import org.springframework.kafka.support.KafkaHeaders;

/** A record of Kafka. */
final class KafkaRecord implements ReceivedMessage {

	private final ConsumerRecord<?, ?> record;

	private final Predicate<String> repeats;

	private KafkaRecord(ConsumerRecord<?, ?> record, Predicate<String> repeats) {
		this.record = record;
		this.repeats = repeats;
	}

	static KafkaRecord of(Object argument, Predicate<String> repeats) {
		return new KafkaRecord((ConsumerRecord<?, ?>) argument, repeats);
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

	@Override
	public String id() {
		return KafkaMessageId.of(this, this.repeats, this.record.topic(), this.record.partition(),
				this.record.offset());
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

}
