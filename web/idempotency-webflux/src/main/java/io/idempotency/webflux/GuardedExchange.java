package io.idempotency.webflux;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.idempotency.http.HandlerRules;
import io.idempotency.http.StoredResponse;
import io.idempotency.interceptor.GuardedMethod;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.ContextView;

import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.multipart.Part;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;
import org.springframework.web.server.WebExceptionHandler;

/**
 * The exchange of a request that may reach a guarded handler. The body of the request is
 * recorded. The response is buffered after the call is claimed.
 */
final class GuardedExchange extends ServerWebExchangeDecorator {

	private final Sinks.Empty<Void> clientGone = Sinks.empty();

	private final CachedRequest request;

	private final BufferedResponse response;

	private final Spring spring;

	private final Mono<MultiValueMap<String, String>> form;

	private final Mono<MultiValueMap<String, Part>> multipart;

	private volatile @Nullable MultiValueMap<String, Part> parts;

	private volatile @Nullable HandlerCall call;

	private volatile boolean over;

	private volatile Consumer<Throwable> jvmError = (error) -> {
	};

	GuardedExchange(ServerWebExchange exchange, long maxRequestSize, long maxResponseSize, Spring spring) {
		super(exchange);
		this.request = new CachedRequest(exchange, maxRequestSize, this.clientGone.asMono());
		this.response = new BufferedResponse(exchange.getResponse(), maxResponseSize, this.clientGone.asMono());
		this.spring = spring;
		this.form = Mono.defer(() -> this.request.isCaching() ? spring.form(this.request) : this.request.form())
			.cache();
		this.multipart = Mono.defer(() -> this.request.isCaching()
				? spring.multipart(this.request).doOnNext((read) -> this.parts = read) : super.getMultipartData())
			.cache();
	}

	/** Returns the exchange of a subscriber, or {@code null}. */
	static @Nullable GuardedExchange of(ContextView context) {
		return context.getOrDefault(GuardedExchange.class, null);
	}

	@Override
	public CachedRequest getRequest() {
		return this.request;
	}

	@Override
	public BufferedResponse getResponse() {
		return this.response;
	}

	@Override
	public Mono<MultiValueMap<String, String>> getFormData() {
		return this.form;
	}

	@Override
	public Mono<MultiValueMap<String, Part>> getMultipartData() {
		return this.multipart;
	}

	/** Deletes the files of the parts that this class read. */
	@Override
	public Mono<Void> cleanupMultipart() {
		MultiValueMap<String, Part> read = this.parts;
		return (read == null) ? Mono.empty()
				: Flux.fromIterable(read.values())
					.concatMapIterable((parts) -> parts)
					.concatMap((part) -> part.delete().onErrorComplete())
					.then();
	}

	/** Returns the requested ranges of the response, empty for the whole response. */
	List<String> range() {
		return WebFluxCallerResolver.headers(this.request, StoredResponse.RANGE);
	}

	/** Returns the handler of the request, {@code null} for a functional route. */
	@Nullable HandlerMethod handler() {
		return handler(this);
	}

	private static @Nullable HandlerMethod handler(ServerWebExchange exchange) {
		return (exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerMethod handler)
				? handler : null;
	}

	/** Returns whether a guarded method is the handler of a request. */
	static boolean leadsTo(ServerWebExchange exchange, GuardedMethod guarded) {
		HandlerMethod handler = handler(exchange);
		return handler != null && HandlerRules.isOf(handler, guarded);
	}

	/** Returns the claimed call, or {@code null}. */
	@Nullable HandlerCall call() {
		return this.call;
	}

	/** Buffers the response of a claimed call. */
	void claimed(HandlerCall claimed, boolean continues) {
		this.call = claimed;
		this.response.buffer(claimed::complete, continues);
	}

	/** Renders an exception as the server does. */
	Mono<Void> render(Throwable failure) {
		Mono<Void> rendered = Mono.error(failure);
		for (WebExceptionHandler handler : this.spring.exceptionHandlers()) {
			rendered = rendered.onErrorResume((thrown) -> handler.handle(this, thrown));
		}
		return rendered;
	}

	/** Sets the handler that ends the request after a JVM error. */
	void onJvmError(Consumer<Throwable> handler) {
		this.jvmError = handler;
	}

	/**
	 * Returns a publisher that catches JVM errors of the source and of its subscriber.
	 */
	Flux<Object> catching(Flux<Object> source) {
		return new JvmErrors(source, this.jvmError);
	}

	/** Records that the client disconnected. */
	void clientIsGone() {
		this.clientGone.tryEmitEmpty();
	}

	/** Records the end of the request. A call cannot begin after that. */
	void end() {
		this.over = true;
	}

	boolean isOver() {
		return this.over;
	}

	/**
	 * The Spring components that render exceptions and read forms.
	 *
	 * @param exceptionHandlers the exception handlers, in their order
	 * @param readers the readers of the application
	 */
	record Spring(List<WebExceptionHandler> exceptionHandlers, List<HttpMessageReader<?>> readers) {

		private static final ResolvableType FORM = ResolvableType.forClassWithGenerics(MultiValueMap.class,
				String.class, String.class);

		private static final ResolvableType MULTIPART = ResolvableType.forClassWithGenerics(MultiValueMap.class,
				String.class, Part.class);

		Mono<MultiValueMap<String, String>> form(CachedRequest request) {
			MediaType sent = request.getHeaders().getContentType();
			boolean sends = sent != null && MediaType.APPLICATION_FORM_URLENCODED.isCompatibleWith(sent);
			return read(FORM, sends ? sent : null, request);
		}

		Mono<MultiValueMap<String, Part>> multipart(CachedRequest request) {
			MediaType sent = request.getHeaders().getContentType();
			boolean sends = sent != null && sent.getType().equals(MediaType.MULTIPART_FORM_DATA.getType());
			return read(MULTIPART, sends ? sent : null, request);
		}

		@SuppressWarnings("unchecked")
		private <T> Mono<MultiValueMap<String, T>> read(ResolvableType type, @Nullable MediaType sent,
				CachedRequest request) {
			Mono<MultiValueMap<String, T>> nothing = Mono.fromSupplier(LinkedMultiValueMap::new);
			for (HttpMessageReader<?> reader : this.readers) {
				if (sent != null && reader.canRead(type, sent)) {
					return ((HttpMessageReader<MultiValueMap<String, T>>) reader).readMono(type, request, Map.of())
						.switchIfEmpty(nothing);
				}
			}
			return nothing;
		}

	}

}
