package io.idempotency.it.message;

import java.util.concurrent.TimeUnit;

import org.springframework.amqp.core.QueueBuilder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two quorum queues of a real RabbitMQ, which drop a message after twenty deliveries: it
 * goes to a queue of dead letters, which has to stay empty.
 */
final class RabbitDeliveryBroker extends RabbitWorkerBroker {

	/** As RabbitMQ 4 has it by default. */
	private static final int DELIVERY_LIMIT = 20;

	/**
	 * The broker does not tell of messages that a consumer has and did not acknowledge.
	 * After this time the guard has decided about each, or has sent it back.
	 */
	private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(20);

	private long quietSince = System.nanoTime();

	RabbitDeliveryBroker() {
		super(RabbitDeliveryWorker.class);
		declare(QueueBuilder.durable(dead()));
		queues().forEach((name) -> declare(QueueBuilder.durable(name)
			.quorum()
			.deliveryLimit(DELIVERY_LIMIT)
			.deadLetterExchange("")
			.deadLetterRoutingKey(dead())));
	}

	private String dead() {
		return queue() + "-dead";
	}

	@Override
	public boolean isDrained() {
		assertThat(look(dead()).getMessageCount()).as("dropped messages").isZero();
		if (!super.isDrained()) {
			this.quietSince = System.nanoTime();
		}
		return System.nanoTime() - this.quietSince > QUIET_NANOS;
	}

	@Override
	public void close() {
		delete(dead());
		super.close();
	}

}
