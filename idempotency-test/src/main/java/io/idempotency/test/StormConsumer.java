package io.idempotency.test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.idempotency.IdempotencyInProgressException;

/** One of the consumers of a storm. It belongs to one thread. */
final class StormConsumer<M> {

	private static final long PAUSE_MILLIS = 5;

	private final Deque<M> messages;

	private final DuplicateStorm.Delivery<? super M> delivery;

	private int redeliveries;

	StormConsumer(Collection<? extends M> messages, DuplicateStorm.Delivery<? super M> delivery) {
		List<M> shuffled = new ArrayList<>(messages);
		Collections.shuffle(shuffled);
		this.messages = new ArrayDeque<>(shuffled);
		this.delivery = delivery;
	}

	/**
	 * Delivers each message until the listener has taken it.
	 * @return how often a message was delivered again
	 */
	int run() throws Exception {
		for (M message = this.messages.poll(); message != null; message = this.messages.poll()) {
			try {
				this.delivery.deliver(message);
			}
			catch (IdempotencyInProgressException ex) {
				// The message goes to the end, as if the broker had put it back into the
				// queue.
				this.messages.add(message);
				this.redeliveries++;
				TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
			}
		}
		return this.redeliveries;
	}

}
