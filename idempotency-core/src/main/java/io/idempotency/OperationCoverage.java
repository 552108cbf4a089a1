package io.idempotency;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Lists the operations of an application that change something, and whether they are
 * guarded. The starter declares a bean of this type. Thread-safe.
 * <p>
 * The list contains every controller method and functional route for POST, PUT, PATCH or
 * DELETE, every Kafka, RabbitMQ and JMS listener method, every GraphQL mutation and every
 * AI tool. It does not contain operations of Spring itself, such as the error page, and
 * listener containers that the application creates without an annotation.
 *
 * @since 0.1.0
 */
public interface OperationCoverage {

	/**
	 * Returns the operations.
	 * @return the operations in the order of their names
	 */
	List<Entry> entries();

	/** Whether an operation is guarded. */
	enum Status {

		/** The operation has {@link Idempotent} or the filter of a functional route. */
		GUARDED,

		/** The operation has {@link NotIdempotent}. */
		NOT_IDEMPOTENT,

		/** Neither is present. */
		UNDECIDED

	}

	/**
	 * One operation.
	 *
	 * @param operation the operation, for example
	 * {@code POST /orders (OrderController#place(Order))}
	 * @param status whether it is guarded
	 * @param reason the reason of {@link NotIdempotent}, otherwise {@code null}
	 */
	record Entry(String operation, Status status, @Nullable String reason) {
	}

}
