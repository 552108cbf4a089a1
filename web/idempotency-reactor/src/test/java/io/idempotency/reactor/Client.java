package io.idempotency.reactor;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** Who has called: has the answer, or not yet, and may hang up. */
final class Client<T> extends BaseSubscriber<T> {

	private final Context context;

	volatile T value;

	volatile Throwable failure;

	volatile boolean completed;

	Client(Context context) {
		this.context = context;
	}

	static <T> Client<T> of(Mono<T> call) {
		return of(call, Context.empty());
	}

	static <T> Client<T> of(Mono<T> call, Context context) {
		Client<T> caller = new Client<>(context);
		call.subscribe(caller);
		return caller;
	}

	/** Awaits what must come, on however slow a machine. */
	static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofMinutes(2));
	}

	void hangUp() {
		cancel();
	}

	boolean isAnswered() {
		return this.completed || this.failure != null;
	}

	@Override
	public Context currentContext() {
		return this.context;
	}

	@Override
	protected void hookOnSubscribe(Subscription subscription) {
		requestUnbounded();
	}

	@Override
	protected void hookOnNext(T next) {
		this.value = next;
	}

	@Override
	protected void hookOnComplete() {
		this.completed = true;
	}

	@Override
	protected void hookOnError(Throwable thrown) {
		this.failure = thrown;
	}

}
