package io.idempotency.samples.shop;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.LongFunction;

import org.springframework.stereotype.Component;

/**
 * The last calls that came in, for the page to show.
 */
@Component
class CallLog {

	private static final int KEPT = 200;

	private final Deque<LoggedCall> calls = new ArrayDeque<>();

	private long last;

	synchronized void add(LongFunction<LoggedCall> call) {
		this.calls.addLast(call.apply(++this.last));
		if (this.calls.size() > KEPT) {
			this.calls.removeFirst();
		}
	}

	synchronized List<LoggedCall> after(long number) {
		return this.calls.stream().filter((call) -> call.number() > number).toList();
	}

}
