package io.idempotency.webflux;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Passes a response body to the server. If the server no longer requests it, the body is
 * read to its end, because creating it is part of the work, or it is cancelled. If the
 * first signal is awaited, the source is subscribed before the server subscribes. For one
 * subscriber.
 *
 * @param <T> the elements
 */
final class BodyRelay<T> extends Flux<T> implements CoreSubscriber<T>, Subscription {

	private final Publisher<? extends T> source;

	private final Consumer<? super T> discarded;

	private final boolean drains;

	private final Context context;

	private final Sinks.Empty<Void> first = Sinks.empty();

	private final Sinks.Empty<Void> end = Sinks.empty();

	private final AtomicInteger signals = new AtomicInteger();

	private volatile @Nullable Subscription upstream;

	private volatile @Nullable CoreSubscriber<? super T> actual;

	/** The element that was requested before the server requested any. */
	private volatile @Nullable T early;

	private volatile boolean begun;

	private volatile boolean demanded;

	/** Whether elements are passed to the server directly. */
	private volatile boolean direct;

	private volatile boolean done;

	private volatile boolean lost;

	private volatile @Nullable Throwable failure;

	/**
	 * Creates the relay.
	 * @param source the body
	 * @param discarded releases an element that is not passed to the server
	 * @param drains whether the source is read to its end after the server cancelled;
	 * otherwise the source is cancelled
	 * @param context the context of the source
	 */
	BodyRelay(Publisher<? extends T> source, Consumer<? super T> discarded, boolean drains, ContextView context) {
		this.source = source;
		this.discarded = discarded;
		this.drains = drains;
		this.context = Context.of(context);
	}

	/** Subscribes to the source, and completes with its first signal. */
	Mono<Void> first() {
		return Mono.defer(() -> {
			begin();
			return this.first.asMono();
		});
	}

	/** Completes or fails with the source. Completes when the source was cancelled. */
	Mono<Void> ended() {
		return this.end.asMono();
	}

	private void begin() {
		if (!this.begun) {
			this.begun = true;
			this.source.subscribe(this);
		}
	}

	/** Ends the source, because the server does not read it. */
	void lose() {
		if (this.lost) {
			return;
		}
		this.lost = true;
		if (!this.begun && !this.drains) {
			this.begun = true;
			this.end.tryEmitEmpty();
			return;
		}
		begin();
		signal();
		Subscription subscription = this.upstream;
		if (subscription != null && this.drains) {
			subscription.request(Long.MAX_VALUE);
		}
		else if (subscription != null) {
			subscription.cancel();
			this.end.tryEmitEmpty();
		}
	}

	@Override
	public void subscribe(CoreSubscriber<? super T> subscriber) {
		if (this.actual != null || this.lost) {
			Operators.error(subscriber, new IllegalStateException("The body ended before the server subscribed to it"));
			return;
		}
		this.actual = subscriber;
		subscriber.onSubscribe(this);
		begin();
		signal();
	}

	@Override
	public void request(long count) {
		Subscription subscription = this.upstream;
		if (this.demanded && subscription != null) {
			subscription.request(count);
			return;
		}
		this.demanded = true;
		signal();
		if (subscription == null) {
			begin();
			subscription = this.upstream;
		}
		if (subscription != null && count > 1) {
			subscription.request((count == Long.MAX_VALUE) ? count : count - 1);
		}
	}

	@Override
	public void cancel() {
		lose();
	}

	@Override
	public Context currentContext() {
		return this.context;
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		this.upstream = subscription;
		subscription.request(1);
	}

	@Override
	public void onNext(T element) {
		if (this.lost) {
			this.discarded.accept(element);
			return;
		}
		if (this.direct) {
			emit(element);
			return;
		}
		this.early = element;
		this.first.tryEmitEmpty();
		signal();
	}

	@Override
	public void onError(Throwable thrown) {
		this.failure = thrown;
		onComplete();
	}

	@Override
	public void onComplete() {
		this.done = true;
		this.first.tryEmitEmpty();
		signal();
		Throwable thrown = this.failure;
		if (thrown != null) {
			this.end.tryEmitError(thrown);
		}
		else {
			this.end.tryEmitEmpty();
		}
	}

	/** Passes the available signals on. Only one thread at a time does this. */
	private void signal() {
		if (this.signals.getAndIncrement() != 0) {
			return;
		}
		int missed = 1;
		while (missed != 0) {
			handOn();
			missed = this.signals.addAndGet(-missed);
		}
	}

	private void handOn() {
		T element = this.early;
		CoreSubscriber<? super T> subscriber = this.actual;
		if (element != null && this.lost) {
			this.early = null;
			this.discarded.accept(element);
		}
		else if (element != null && subscriber != null && this.demanded) {
			this.early = null;
			this.direct = true;
			subscriber.onNext(element);
		}
		if (this.done && this.early == null && subscriber != null && !this.lost) {
			this.actual = null;
			this.lost = true;
			Throwable thrown = this.failure;
			if (thrown != null) {
				subscriber.onError(thrown);
			}
			else {
				subscriber.onComplete();
			}
		}
	}

	private void emit(T element) {
		CoreSubscriber<? super T> subscriber = this.actual;
		if (subscriber != null) {
			subscriber.onNext(element);
		}
		else {
			this.discarded.accept(element);
		}
	}

}
