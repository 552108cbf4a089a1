package io.idempotency.autoconfigure;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;

/**
 * A bean with a guarded method; public, so that a proxy of any class loader can extend
 * it.
 */
public class Payments {

	private final AtomicInteger runs = new AtomicInteger();

	@Idempotent("#orderId")
	public Receipt pay(String orderId) {
		return new Receipt(orderId, this.runs.incrementAndGet());
	}

	public record Receipt(String orderId, int number) {
	}

}
