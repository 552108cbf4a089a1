package io.idempotency.it.message;

import java.util.function.Supplier;

/** How a broker and its listeners agree that a message was processed. */
enum DeliveryKind {

	/** Kafka's container commits each record when its listener has returned. */
	KAFKA_RECORD(() -> new KafkaWorkerBroker(KafkaDeliveryWorker.class)),

	/** The listener acknowledges, on the consumer's thread. */
	KAFKA_MANUAL(() -> new KafkaWorkerBroker(KafkaDeliveryWorker.class)),

	/** The listener returns a future. */
	KAFKA_FUTURE(() -> new KafkaWorkerBroker(KafkaDeliveryWorker.class)),

	/** The listener hands its work, and the acknowledgement, to other threads. */
	KAFKA_ASYNC_ACKS(() -> new KafkaWorkerBroker(KafkaDeliveryWorker.class));

	private final Supplier<WorkerBroker> broker;

	DeliveryKind(Supplier<WorkerBroker> broker) {
		this.broker = broker;
	}

	/** Makes the queues: one for the guarded listener, the other for its control. */
	WorkerBroker broker() {
		return this.broker.get();
	}

}
