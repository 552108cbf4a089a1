package io.idempotency.messaging;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

import org.springframework.kafka.support.KafkaHeaders;

/** A Kafka record. */
record KafkaRecord(ConsumerRecord<?, ?> record, Predicate<String> repeats) implements ReceivedMessage {

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

}
