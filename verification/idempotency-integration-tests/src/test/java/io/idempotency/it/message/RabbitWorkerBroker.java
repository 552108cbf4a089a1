package io.idempotency.it.message;

import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;

import io.idempotency.it.servers.Backend;

import org.springframework.amqp.core.QueueBuilder;
import org.springframework.amqp.core.QueueInformation;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/** Two queues of a real RabbitMQ. */
class RabbitWorkerBroker implements WorkerBroker {

	/** Milliseconds after which the broker removes a queue that nobody uses. */
	private static final int EXPIRY = 600_000;

	private final String address = Objects.requireNonNull(Backend.rabbit());

	private final String queue = "processes-" + UUID.randomUUID();

	private final Class<?> consumer;

	private final CachingConnectionFactory connections = RabbitServer.connections(this.address);

	private final RabbitAdmin admin = new RabbitAdmin(this.connections);

	RabbitWorkerBroker() {
		this(RabbitWorker.class);
		queues().forEach((name) -> declare(QueueBuilder.durable(name)));
	}

	/**
	 * Leaves the queues to be declared.
	 * @param consumer the application that consumes them
	 */
	RabbitWorkerBroker(Class<?> consumer) {
		this.consumer = consumer;
	}

	final void declare(QueueBuilder queue) {
		this.admin.declareQueue(queue.expires(EXPIRY).build());
	}

	final void delete(String name) {
		this.admin.deleteQueue(name);
	}

	final Stream<String> queues() {
		return Stream.of(queue(), keptQueue());
	}

	@Override
	public final Class<?> consumer() {
		return this.consumer;
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

	/**
	 * Of messages that a consumer has and did not acknowledge, the broker says nothing.
	 */
	@Override
	public boolean isDrained() {
		return queues().allMatch((name) -> look(name).getMessageCount() == 0);
	}

	final QueueInformation look(String name) {
		return Objects.requireNonNull(this.admin.getQueueInfo(name));
	}

	@Override
	public void close() {
		queues().forEach(this::delete);
		this.connections.destroy();
	}

}
