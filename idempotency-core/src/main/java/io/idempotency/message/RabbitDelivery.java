package io.idempotency.message;

import java.io.IOException;
import java.lang.reflect.Parameter;

import com.rabbitmq.client.Channel;
import io.idempotency.aop.OperationCall;
import org.jspecify.annotations.Nullable;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.handler.annotation.Header;

/** A delivery of a message of RabbitMQ. */
final class RabbitDelivery extends Delivery {

	private final RabbitBroker broker;

	private final @Nullable String queue;

	RabbitDelivery(RabbitBroker broker, OperationCall call, ReceivedMessage message, @Nullable String queue) {
		super(call, message);
		this.broker = broker;
		this.queue = queue;
	}

	@Override
	void watch(@Nullable Object[] arguments) {
		// The channel is the listener's own.
	}

	/**
	 * Acknowledges if the container leaves that to the listener. If the container
	 * acknowledges, a second acknowledgement would close the channel.
	 */
	@Override
	void acknowledge() throws IOException {
		for (Object argument : call().arguments()) {
			if (argument instanceof Channel channel) {
				Long tag = deliveryTag(call());
				if (tag != null && this.broker.isManual(this.queue, call())) {
					channel.basicAck(tag, false);
				}
				return;
			}
		}
	}

	@Override
	Throwable sendBack(Throwable why) {
		return why;
	}

	private static @Nullable Long deliveryTag(OperationCall call) {
		Parameter[] parameters = call.operation().method().getParameters();
		for (int i = 0; i < parameters.length; i++) {
			Object argument = call.arguments()[i];
			if (argument instanceof Message message) {
				return message.getMessageProperties().getDeliveryTag();
			}
			if (argument instanceof org.springframework.messaging.Message<?> message) {
				return message.getHeaders().get(AmqpHeaders.DELIVERY_TAG, Long.class);
			}
			Header header = AnnotatedElementUtils.findMergedAnnotation(parameters[i], Header.class);
			if (header != null && header.name().equals(AmqpHeaders.DELIVERY_TAG) && argument instanceof Long tag) {
				return tag;
			}
		}
		return null;
	}

}
