package io.idempotency.webflux;

import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import io.idempotency.aop.GuardFaultException;
import io.idempotency.aop.IdempotentOperation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.reactive.function.BodyExtractor;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.support.ServerRequestWrapper;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;

/** The request that the handler of a route sees: its body was read. */
final class SeenRequest extends ServerRequestWrapper {

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
			return methods.isEmpty() || methods.stream().anyMatch((method) -> !isOfSpring(method.getDeclaringClass()));
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
	 * Returns what the guard of a route asks. A filter outside may say who the caller is;
	 * it cannot make the body, which the guard reads from the exchange.
	 * @param request the request that the filters outside have passed on
	 * @throws GuardFaultException if its body is not that of the exchange
	 */
	static ServerWebExchange exchange(ServerRequest request, IdempotentOperation route) {
		ServerRequest wrapped = request;
		while (!(wrapped instanceof SeenRequest) && !isOfSpring(wrapped.getClass())) {
			if (MAKES_BODY.get(wrapped.getClass())) {
				throw new GuardFaultException("A request of '" + route.name() + "' cannot be guarded: "
						+ wrapped.getClass().getName() + ", which a filter outside of the guard has passed on, has a "
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
