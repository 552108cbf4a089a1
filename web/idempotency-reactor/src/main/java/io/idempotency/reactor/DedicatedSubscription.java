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
 * A subscription that is independent of the caller's subscription, so the caller cannot
 * cancel it. It ends when the source completes and not when the source emits its value: a
 * transaction that emitted a value may still be rolled back.
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
	 * @param ended receives the value or the failure, or neither if the source is empty
	 */
	DedicatedSubscription(Context context, BiConsumer<@Nullable T, @Nullable Throwable> ended) {
		this.context = context;
		this.ended = ended;
	}

	/**
	 * Subscribes to a step of a store. Completing without a result is a failure.
	 * @param context the context of the step
	 * @param step creates the step
	 * @param answered receives the result
	 * @param failed receives the failure
	 */
	static <V> void ask(Context context, Callable<Mono<V>> step, Consumer<V> answered, Consumer<Throwable> failed) {
		new DedicatedSubscription<V>(context, (answer, failure) -> {
			if (answer != null) {
				answered.accept(answer);
			}
			else {
				failed.accept((failure != null) ? failure
						: new IdempotencyStoreException("The Mono of the store completed without a value"));
			}
		}).begin(step);
	}

	/**
	 * Subscribes to the source, unless this subscription was cancelled before.
	 * @param source creates the source. An exception of the callable counts as a failure
	 * of the source. So does a JVM error, which Reactor throws at the subscribing code.
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
			// A branch of the source may still be running.
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

	/**
	 * Notifies the callback. A failure of the callback does not count as a failure of the
	 * source.
	 */
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
