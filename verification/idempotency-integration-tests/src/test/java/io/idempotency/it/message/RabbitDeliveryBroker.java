package io.idempotency.it.message;

import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.idempotency.it.servers.Backend;

import org.springframework.amqp.core.QueueBuilder;
import org.springframework.amqp.core.QueueInformation;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two quorum queues of a real RabbitMQ, which drop a message after twenty deliveries: it
 * goes to a queue of dead letters, which has to stay empty.
 */
final class RabbitDeliveryBroker implements WorkerBroker {

	/** As RabbitMQ 4 has it by default. */
	private static final int DELIVERY_LIMIT = 20;

	/** Milliseconds after which the broker removes a queue that nobody uses. */
	private static final int EXPIRY = 600_000;

	/**
	 * The broker does not tell of messages that a consumer has and did not acknowledge.
	 * After this time the guard has decided about each, or has sent it back.
	 */
	private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(20);

	private final String address = Objects.requireNonNull(Backend.rabbit());

	private final String queue = "deliveries-" + UUID.randomUUID();

	private final CachingConnectionFactory connections = RabbitServer.connections(this.address);

	private final RabbitAdmin admin = new RabbitAdmin(this.connections);

	private long quietSince = System.nanoTime();

	RabbitDeliveryBroker() {
		this.admin.declareQueue(QueueBuilder.durable(dead()).expires(EXPIRY).build());
		queues().forEach((name) -> this.admin.declareQueue(QueueBuilder.durable(name)
			.quorum()
			.deliveryLimit(DELIVERY_LIMIT)
			.deadLetterExchange("")
			.deadLetterRoutingKey(dead())
			.expires(EXPIRY)
			.build()));
	}

	private Stream<String> queues() {
		return Stream.of(queue(), keptQueue());
	}

	private String dead() {
		return this.queue + "-dead";
	}

	@Override
	public Class<?> consumer() {
		return RabbitDeliveryWorker.class;
	}

	@Override
	public List<String> properties() {
		return List.of("test.broker=" + this.address);
	}

	@Override
	public String queue() {
		return this.queue;
	}

	@Override
	public void send(String queue, List<String> messages) {
		RabbitTemplate rabbit = new RabbitTemplate(this.connections);
		messages.forEach((message) -> rabbit.convertAndSend(queue, message));
	}

	@Override
	public boolean isConsumedBy(int consumers) {
		return queues().allMatch((name) -> look(name).getConsumerCount() == consumers);
	}

	@Override
	public boolean isDrained() {
		assertThat(look(dead()).getMessageCount()).as("dropped messages").isZero();
		if (queues().anyMatch((name) -> look(name).getMessageCount() > 0)) {
			this.quietSince = System.nanoTime();
		}
		return System.nanoTime() - this.quietSince > QUIET_NANOS;
	}

	private QueueInformation look(String name) {
		return Objects.requireNonNull(this.admin.getQueueInfo(name));
	}

	@Override
	public void close() {
		Stream.concat(queues(), Stream.of(dead())).forEach(this.admin::deleteQueue);
		this.connections.destroy();
	}

}
