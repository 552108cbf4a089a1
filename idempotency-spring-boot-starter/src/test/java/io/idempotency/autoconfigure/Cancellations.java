package io.idempotency.autoconfigure;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;

/** A bean with a guarded method that has no result, and so needs no JSON library. */
public class Cancellations {

	private final AtomicInteger runs = new AtomicInteger();

	@Idempotent("#orderId")
	public void cancel(String orderId) {
		this.runs.incrementAndGet();
	}

	public int runs() {
		return this.runs.get();
	}

}
