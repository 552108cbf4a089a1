package io.idempotency.webflux;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxOperator;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;

/**
 * The body of an answer that is too large to be held back. Making it is a part of the
 * work, which goes on to its end when nobody takes the bytes any more. For one
 * subscriber.
 */
final class PassedBody extends FluxOperator<DataBuffer, DataBuffer> {

	private final AtomicBoolean taken = new AtomicBoolean();

	private final Sinks.Empty<Void> over = Sinks.empty();

	PassedBody(Publisher<? extends DataBuffer> content) {
		super(Flux.from(content));
	}

	@Override
	public void subscribe(CoreSubscriber<? super DataBuffer> actual) {
		if (this.taken.compareAndSet(false, true)) {
			this.source.subscribe(new Passing(actual, this.over));
		}
		else {
			Operators.error(actual, new IllegalStateException("The body has gone on without the server"));
		}
	}

	/**
	 * Completes, or fails, with the body, which ends also if the server has not asked for
	 * it.
	 */
	Mono<Void> ended() {
		return Mono.defer(() -> this.taken.compareAndSet(false, true)
				? this.source.doOnNext(DataBufferUtils::release).then() : this.over.asMono());
	}

	/** Passes on until it is cancelled, and throws the rest away. */
	private static final class Passing implements CoreSubscriber<DataBuffer>, Subscription {

		private final CoreSubscriber<? super DataBuffer> actual;

		private final Sinks.Empty<Void> over;

		private final AtomicBoolean left = new AtomicBoolean();

		private @Nullable Subscription upstream;

		Passing(CoreSubscriber<? super DataBuffer> actual, Sinks.Empty<Void> over) {
			this.actual = actual;
			this.over = over;
		}

		@Override
		public Context currentContext() {
			return this.actual.currentContext();
		}

		@Override
		public void onSubscribe(Subscription subscription) {
			this.upstream = subscription;
			this.actual.onSubscribe(this);
		}

		@Override
		public void onNext(DataBuffer buffer) {
			if (this.left.get()) {
				DataBufferUtils.release(buffer);
			}
			else {
				this.actual.onNext(buffer);
			}
		}

		@Override
		public void onError(Throwable failure) {
			this.over.tryEmitError(failure);
			if (!this.left.get()) {
				this.actual.onError(failure);
			}
		}

		@Override
		public void onComplete() {
			this.over.tryEmitEmpty();
			if (!this.left.get()) {
				this.actual.onComplete();
			}
		}

		@Override
		public void request(long count) {
			Subscription source = this.upstream;
			if (source != null) {
				source.request(count);
			}
		}

		@Override
		public void cancel() {
			if (this.left.compareAndSet(false, true)) {
				request(Long.MAX_VALUE);
			}
		}

	}

}
