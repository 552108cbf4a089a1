package io.idempotency.webflux;

import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.interceptor.GuardFaultException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.key.Namespace;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpOutputMessage;
import org.springframework.http.ResponseCookie;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.CollectionUtils;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.function.BodyExtractor;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.function.server.support.ServerRequestWrapper;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;

/**
 * One request of a guarded route. Its guard is a filter, which may wait: it calls the
 * handler, and makes the answer itself, so that the record is complete when the filters
 * outside see the response.
 */
final class RoutedRequest {

	/** The method by which all handlers are called. */
	static final Method HANDLE = handle();

	private static final MethodParameter RETURN_TYPE = new MethodParameter(HANDLE, -1);

	private final ServerRequest request;

	private final IdempotentOperation operation;

	private final HandlerFunction<ServerResponse> next;

	private final Namespace namespace;

	private volatile @Nullable ServerResponse response;

	RoutedRequest(ServerRequest request, IdempotentOperation operation, HandlerFunction<ServerResponse> next,
			Namespace namespace) {
		this.request = request;
		this.operation = operation;
		this.next = next;
		this.namespace = namespace;
	}

	/** Found so that a native image keeps it. */
	private static Method handle() {
		try {
			return HandlerFunction.class.getMethod("handle", ServerRequest.class);
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Goes one way to the handler.
	 * @param pass what happens when the guard is reached, which is at once
	 * @param handling makes answers
	 */
	Mono<Void> handle(Pass pass, Handling handling) {
		ServerRequest seen = (pass.exchange() instanceof GuardedExchange guarded)
				? new SeenRequest(this.request, guarded) : this.request;
		OperationCall call = OperationCall.of(this.operation, () -> this.next.handle(seen), this.next, seen,
				this.namespace);
		HandlerWork work = new HandlerWork(pass, call);
		Mono<Void> handled = Mono.defer(() -> pass.admits(call)
				? work.one().flatMap((response) -> answer((ServerResponse) response, pass, work, handling))
				: Mono.empty());
		return Mono.firstWithSignal(pass.ended(), handled)
			// Work that nothing guards is no part of a call: a guard inside of it guards.
			.contextWrite((context) -> (pass.claim() != null) ? context.put(RoutedRequest.class, this) : context);
	}

	private Mono<Void> answer(ServerResponse response, Pass pass, HandlerWork work, Handling handling) {
		if (!(pass.exchange() instanceof GuardedExchange)) {
			this.response = response;
			return Mono.empty();
		}
		return handling.write(new HandlerResult(this.next, new ObservedResponse(response, work), RETURN_TYPE), pass)
			.doOnError(pass::failed);
	}

	/** Is told the answer that is to be sent. */
	void answered(int status, Supplier<Mono<Void>> sending) {
		this.response = new MadeResponse(status, sending);
	}

	/**
	 * Returns what the filters outside of the guard get: nothing, if unguarded work has
	 * given nothing.
	 */
	Mono<ServerResponse> response() {
		return Mono.justOrEmpty(this.response);
	}

	/**
	 * A response whose body is seen, because a publisher in it is a part of the work.
	 *
	 * @param response the response of the handler
	 * @param work is told
	 */
	private record ObservedResponse(ServerResponse response, HandlerWork work) implements ServerResponse {

		@Override
		public HttpStatusCode statusCode() {
			return this.response.statusCode();
		}

		@Override
		@SuppressWarnings("removal")
		public int rawStatusCode() {
			return statusCode().value();
		}

		@Override
		public HttpHeaders headers() {
			return this.response.headers();
		}

		@Override
		public MultiValueMap<String, ResponseCookie> cookies() {
			return this.response.cookies();
		}

		@Override
		public Mono<Void> writeTo(ServerWebExchange exchange, Context context) {
			List<HttpMessageWriter<?>> writers = context.messageWriters()
				.stream()
				.<HttpMessageWriter<?>>map((writer) -> new ObservedWriter<>(writer, this.work))
				.toList();
			return this.response.writeTo(exchange, new Context() {

				@Override
				public List<HttpMessageWriter<?>> messageWriters() {
					return writers;
				}

				@Override
				public List<ViewResolver> viewResolvers() {
					return context.viewResolvers();
				}

			});
		}

	}

	/**
	 * A writer that sees its input.
	 *
	 * @param <T> what it writes
	 * @param writer the writer of the application
	 * @param work is told
	 */
	private record ObservedWriter<T>(HttpMessageWriter<T> writer, HandlerWork work) implements HttpMessageWriter<T> {

		@Override
		public List<MediaType> getWritableMediaTypes() {
			return this.writer.getWritableMediaTypes();
		}

		@Override
		public List<MediaType> getWritableMediaTypes(ResolvableType type) {
			return this.writer.getWritableMediaTypes(type);
		}

		@Override
		public boolean canWrite(ResolvableType type, @Nullable MediaType mediaType) {
			return this.writer.canWrite(type, mediaType);
		}

		@Override
		public Mono<Void> write(Publisher<? extends T> input, ResolvableType type, @Nullable MediaType mediaType,
				ReactiveHttpOutputMessage message, Map<String, Object> hints) {
			return this.writer.write(this.work.observedBody(input), type, mediaType, message, hints);
		}

		@Override
		public Mono<Void> write(Publisher<? extends T> input, ResolvableType actualType, ResolvableType type,
				@Nullable MediaType mediaType, ServerHttpRequest request, ServerHttpResponse response,
				Map<String, Object> hints) {
			return this.writer.write(this.work.observedBody(input), actualType, type, mediaType, request, response,
					hints);
		}

	}

	/**
	 * An answer that is made, headers and body.
	 *
	 * @param status its status
	 * @param sending sends it
	 */
	private record MadeResponse(int status, Supplier<Mono<Void>> sending) implements ServerResponse {

		@Override
		public HttpStatusCode statusCode() {
			return HttpStatusCode.valueOf(this.status);
		}

		@Override
		@SuppressWarnings("removal")
		public int rawStatusCode() {
			return this.status;
		}

		@Override
		public HttpHeaders headers() {
			return HttpHeaders.EMPTY;
		}

		@Override
		public MultiValueMap<String, ResponseCookie> cookies() {
			return CollectionUtils.unmodifiableMultiValueMap(new LinkedMultiValueMap<>());
		}

		@Override
		public Mono<Void> writeTo(ServerWebExchange exchange, Context context) {
			return this.sending.get();
		}

	}

	/** The request that the handler of a route sees: its body was read. */
	static final class SeenRequest extends ServerRequestWrapper {

		/** The methods that give the body. */
		private static final Set<String> BODY = Set.of("body", "bodyToMono", "bodyToFlux", "bind", "formData",
				"multipartData");

		private static final ClassValue<Boolean> MAKES_BODY = new ClassValue<>() {

			@Override
			protected Boolean computeValue(Class<?> type) {
				List<Method> methods = Arrays.stream(type.getMethods())
					.filter((method) -> BODY.contains(method.getName()))
					.toList();
				// A native image may not show them.
				return methods.isEmpty()
						|| methods.stream().anyMatch((method) -> !isOfSpring(method.getDeclaringClass()));
			}

		};

		private final GuardedExchange exchange;

		private final ServerRequest read;

		SeenRequest(ServerRequest request, GuardedExchange exchange) {
			super(request);
			this.exchange = exchange;
			this.read = ServerRequest.create(exchange, request.messageReaders());
		}

		/**
		 * Returns what the guard of a route asks. A filter outside may say who the caller
		 * is; it cannot make the body, which the guard reads from the exchange.
		 * @param request the request that the filters outside have passed on
		 * @throws GuardFaultException if its body is not that of the exchange
		 */
		static ServerWebExchange exchange(ServerRequest request, IdempotentOperation route) {
			ServerRequest wrapped = request;
			while (!(wrapped instanceof SeenRequest) && !isOfSpring(wrapped.getClass())) {
				if (MAKES_BODY.get(wrapped.getClass())) {
					throw new GuardFaultException("A request of '" + route.name() + "' cannot be guarded: "
							+ wrapped.getClass().getName()
							+ ", which a filter outside of the guard has passed on, has a "
							+ "body of its own, and the guard reads that of the exchange. Let the filter stand inside of "
							+ "the guard (behind it in the same builder), or change the body of the exchange in a "
							+ "WebFilter or by ServerRequest.from(request).body(...)", null);
				}
				if (!(wrapped instanceof ServerRequestWrapper wrapper)) {
					break;
				}
				wrapped = wrapper.request();
			}
			return new ServerWebExchangeDecorator(request.exchange()) {

				@Override
				@SuppressWarnings("unchecked")
				public <T extends Principal> Mono<T> getPrincipal() {
					return (Mono<T>) request.principal();
				}

			};
		}

		private static boolean isOfSpring(Class<?> type) {
			return type.getName().startsWith("org.springframework.");
		}

		@Override
		public ServerWebExchange exchange() {
			return this.exchange;
		}

		@Override
		public <T> T body(BodyExtractor<T, ? super ServerHttpRequest> extractor) {
			return this.read.body(extractor);
		}

		@Override
		public <T> T body(BodyExtractor<T, ? super ServerHttpRequest> extractor, Map<String, Object> hints) {
			return this.read.body(extractor, hints);
		}

		@Override
		public <T> Mono<T> bodyToMono(Class<? extends T> type) {
			return this.read.bodyToMono(type);
		}

		@Override
		public <T> Mono<T> bodyToMono(ParameterizedTypeReference<T> type) {
			return this.read.bodyToMono(type);
		}

		@Override
		public <T> Flux<T> bodyToFlux(Class<? extends T> type) {
			return this.read.bodyToFlux(type);
		}

		@Override
		public <T> Flux<T> bodyToFlux(ParameterizedTypeReference<T> type) {
			return this.read.bodyToFlux(type);
		}

		@Override
		public <T> Mono<T> bind(Class<T> type) {
			return this.read.bind(type);
		}

		@Override
		public <T> Mono<T> bind(Class<T> type, Consumer<WebDataBinder> customizer) {
			return this.read.bind(type, customizer);
		}

		@Override
		public Mono<MultiValueMap<String, String>> formData() {
			return this.exchange.getFormData();
		}

		@Override
		public Mono<MultiValueMap<String, Part>> multipartData() {
			return this.exchange.getMultipartData();
		}

	}

}
