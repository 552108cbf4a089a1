package io.idempotency.it.ai;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What the tools do; it counts, so that a second run shows. */
class Bank {

	private final AtomicInteger done = new AtomicInteger();

	private volatile CountDownLatch entered = new CountDownLatch(1);

	private volatile CountDownLatch gate = new CountDownLatch(1);

	record Receipt(String card, int amount, int number) {
	}

	void reset() {
		this.done.set(0);
		this.entered = new CountDownLatch(1);
		this.gate = new CountDownLatch(1);
	}

	int done() {
		return this.done.get();
	}

	String pay(String what) {
		return what + ", number " + this.done.incrementAndGet();
	}

	Receipt charge(String card, int amount) {
		return new Receipt(card, amount, this.done.incrementAndGet());
	}

	String payWhenOpened(String what) throws InterruptedException {
		this.entered.countDown();
		if (!this.gate.await(60, TimeUnit.SECONDS)) {
			throw new IllegalStateException("Nobody opened the gate");
		}
		return pay(what);
	}

	void awaitEntered() throws InterruptedException {
		if (!this.entered.await(60, TimeUnit.SECONDS)) {
			throw new IllegalStateException("Nobody entered");
		}
	}

	void open() {
		this.gate.countDown();
	}

}
