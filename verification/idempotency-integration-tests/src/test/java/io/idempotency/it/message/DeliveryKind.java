package io.idempotency.it.message;

import java.util.function.Supplier;

import io.idempotency.it.servers.Backend;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;

import static org.junit.jupiter.api.Assumptions.assumeFalse;

/** How a broker and its listeners agree that a message was processed. */
enum DeliveryKind {

	/** Kafka's container commits each record when its listener has returned. */
	KAFKA_RECORD(() -> new KafkaWorkerBroker(KafkaDeliveryWorker.class)),

	/** The listener acknowledges, on the consumer's thread. */
	KAFKA_MANUAL(() -> new KafkaWorkerBroker(KafkaDeliveryWorker.class)),

	/** The listener returns a future. */
	KAFKA_FUTURE(() -> new KafkaWorkerBroker(KafkaDeliveryWorker.class)),

	/** The listener hands its work, and the acknowledgement, to other threads. */
	KAFKA_ASYNC_ACKS(() -> new KafkaWorkerBroker(KafkaDeliveryWorker.class)),

	/** RabbitMQ's container acknowledges when its listener has returned. */
	RABBIT_AUTO(RabbitDeliveryBroker::new),

	/** The listener acknowledges, on the consumer's thread. */
	RABBIT_MANUAL(RabbitDeliveryBroker::new),

	/** The listener returns a future. */
	RABBIT_FUTURE(RabbitDeliveryBroker::new),

	/** The listener hands its work, and the acknowledgement, to other threads. */
	RABBIT_HANDED_ON(RabbitDeliveryBroker::new);

	private final Supplier<WorkerBroker> broker;

	DeliveryKind(Supplier<WorkerBroker> broker) {
		this.broker = broker;
	}

	/** Leaves the test out, and says why, where the broker is not. */
	void assumeItsBroker() {
		if (name().startsWith(Backend.RABBIT.name())) {
			ConditionEvaluationResult broker = Backend.RABBIT.evaluate();
			assumeFalse(broker.isDisabled(), () -> broker.getReason().orElse(""));
		}
	}

	/** Makes the queues: one for the guarded listener, the other for its control. */
	WorkerBroker broker() {
		return this.broker.get();
	}

}
