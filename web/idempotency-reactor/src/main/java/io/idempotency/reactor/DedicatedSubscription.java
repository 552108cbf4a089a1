package io.idempotency.reactor;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import io.idempotency.store.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A subscription apart from that of the caller, which therefore cannot cancel it. Its end
 * is the completion of the source and not its value: what a transaction emits may still
 * be rolled back.
 *
 * @param <T> the value
 */
final class DedicatedSubscription<T> extends BaseSubscriber<T> {

	private final Context context;

	private final BiConsumer<@Nullable T, @Nullable Throwable> ended;

	private volatile @Nullable T value;

	private boolean told;

	/**
	 * Creates the subscription.
	 * @param context the context of the source
	 * @param ended is told once the value or the failure, neither for an empty end
	 */
	DedicatedSubscription(Context context, BiConsumer<@Nullable T, @Nullable Throwable> ended) {
		this.context = context;
		this.ended = ended;
	}

	/**
	 * Asks a store. Completing without a response is a failure.
	 * @param context the context of the step
	 * @param step makes the step
	 * @param answered is told the response
	 * @param failed is told the failure
	 */
	static <V> void ask(Context context, Callable<Mono<V>> step, Consumer<V> answered, Consumer<Throwable> failed) {
		new DedicatedSubscription<V>(context, (answer, failure) -> {
			if (answer != null) {
				answered.accept(answer);
			}
			else {
				failed.accept((failure != null) ? failure
						: new IdempotencyStoreException("The store completed without a result"));
			}
		}).begin(step);
	}

	/**
	 * Subscribes, unless this was cancelled before.
	 * @param source makes the source; its failure is that of the source, and so is an
	 * error of the JVM, which Reactor throws at whoever subscribes
	 */
	void begin(Callable<Mono<T>> source) {
		try {
			if (!isDisposed()) {
				Mono<T> begun = Objects.requireNonNull(source.call(), "The Mono to subscribe to is missing");
				if (!isDisposed()) {
					begun.subscribe(this);
				}
			}
		}
		catch (Throwable ex) {
			// A branch of the source may be at work.
			cancel();
			tell(null, ex);
		}
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
		tell(this.value, null);
	}

	@Override
	protected void hookOnError(Throwable failure) {
		tell(null, failure);
	}

	/** What goes wrong behind the end is no failure of the source. */
	private void tell(@Nullable T result, @Nullable Throwable failure) {
		try {
			if (isFirst()) {
				this.ended.accept(result, failure);
			}
		}
		catch (Throwable ex) {
			Operators.onErrorDropped(ex, this.context);
		}
	}

	private synchronized boolean isFirst() {
		boolean first = !this.told;
		this.told = true;
		return first;
	}

}
