package io.idempotency.webflux;

import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxOperator;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoOperator;
import reactor.util.context.Context;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;

/**
 * The exchange of which the arguments of a handler are made. What has to be read for them
 * comes on a thread of the server, which knows no way: it is bound to the way for each
 * signal.
 */
final class BoundExchange extends ServerWebExchangeDecorator {

	private final ServerHttpRequest request;

	private final BoundPass bound;

	BoundExchange(ServerWebExchange exchange, BoundPass bound) {
		super(exchange);
		this.request = new BoundRequest(exchange.getRequest(), bound);
		this.bound = bound;
	}

	@Override
	public ServerHttpRequest getRequest() {
		return this.request;
	}

	@Override
	public Mono<MultiValueMap<String, String>> getFormData() {
		return new BoundMono<>(super.getFormData(), this.bound);
	}

	@Override
	public Mono<MultiValueMap<String, Part>> getMultipartData() {
		return new BoundMono<>(super.getMultipartData(), this.bound);
	}

	/** A request whose body comes on a way. */
	private static final class BoundRequest extends ServerHttpRequestDecorator {

		private final BoundPass bound;

		BoundRequest(ServerHttpRequest request, BoundPass bound) {
			super(request);
			this.bound = bound;
		}

		@Override
		public Flux<DataBuffer> getBody() {
			return new BoundFlux<>(super.getBody(), this.bound);
		}

	}

	private static final class BoundFlux<T> extends FluxOperator<T, T> {

		private final BoundPass bound;

		BoundFlux(Flux<T> source, BoundPass bound) {
			super(source);
			this.bound = bound;
		}

		@Override
		public void subscribe(CoreSubscriber<? super T> actual) {
			this.source.subscribe(new BoundSubscriber<>(actual, this.bound));
		}

	}

	private static final class BoundMono<T> extends MonoOperator<T, T> {

		private final BoundPass bound;

		BoundMono(Mono<T> source, BoundPass bound) {
			super(source);
			this.bound = bound;
		}

		@Override
		public void subscribe(CoreSubscriber<? super T> actual) {
			this.source.subscribe(new BoundSubscriber<>(actual, this.bound));
		}

	}

	/** Is a subscription of its own, so that no signal is fetched past it. */
	private static final class BoundSubscriber<T> implements CoreSubscriber<T>, Subscription, Scannable {

		private final CoreSubscriber<? super T> actual;

		private final BoundPass bound;

		private @Nullable Subscription upstream;

		BoundSubscriber(CoreSubscriber<? super T> actual, BoundPass bound) {
			this.actual = actual;
			this.bound = bound;
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
		public void onNext(T value) {
			try (BoundPass.Scope scope = BoundPass.bind(this.bound)) {
				this.actual.onNext(value);
			}
		}

		@Override
		public void onError(Throwable failure) {
			try (BoundPass.Scope scope = BoundPass.bind(this.bound)) {
				this.actual.onError(failure);
			}
		}

		@Override
		public void onComplete() {
			try (BoundPass.Scope scope = BoundPass.bind(this.bound)) {
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
			Subscription source = this.upstream;
			if (source != null) {
				source.cancel();
			}
		}

		@Override
		@SuppressWarnings("rawtypes")
		public @Nullable Object scanUnsafe(Attr key) {
			return (key == Attr.ACTUAL) ? this.actual : (key == Attr.PARENT) ? this.upstream : null;
		}

	}

}
