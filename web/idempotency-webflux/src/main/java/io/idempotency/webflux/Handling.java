package io.idempotency.webflux;

import java.security.Principal;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.idempotency.http.PlainHandlers;
import io.idempotency.http.PlainHandlers.TextConversion;
import reactor.core.publisher.Mono;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.http.HttpMethod;
import org.springframework.http.codec.DecoderHttpMessageReader;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.multipart.MultipartHttpMessageReader;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.reactive.config.WebFluxConfigurationSupport;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebSession;
import org.springframework.web.util.UriBuilder;

/**
 * Calls handlers and makes their answers, as Spring's {@code DispatcherHandler} does,
 * which would make them where nobody holds them back. Thread-safe.
 */
final class Handling {

	/** Spring itself resolves parameters of these types. */
	private static final List<Class<?>> RESOLVED = List.of(ServerWebExchange.class, ServerHttpRequest.class,
			ServerHttpResponse.class, WebSession.class, HttpMethod.class, Principal.class, Locale.class, TimeZone.class,
			ZoneId.class, UriBuilder.class);

	private final List<HandlerAdapter> adapters;

	private final List<HandlerResultHandler> resultHandlers;

	private final List<WebExceptionHandler> exceptionHandlers;

	private final PlainHandlers plain;

	/** Not before there is a handler that needs it: it costs each operator a look. */
	private volatile boolean follows;

	/**
	 * Finds the parts of Spring.
	 * @param context has them
	 * @param own those adapters that are the guard's, and are left out
	 */
	Handling(ApplicationContext context, Predicate<HandlerAdapter> own) {
		this.adapters = ordered(context, HandlerAdapter.class).stream().filter(own.negate()).toList();
		this.resultHandlers = ordered(context, HandlerResultHandler.class);
		this.exceptionHandlers = context.getBeanProvider(WebExceptionHandler.class).orderedStream().toList();
		// Nothing but readers sees bodies here.
		this.plain = new PlainHandlers(context, RESOLVED, (type) -> false, this::readers,
				new TextConversion(context,
						() -> ofMethods().map(RequestMappingHandlerAdapter::getWebBindingInitializer),
						WebFluxConfigurer.class, WebFluxConfigurationSupport.class));
	}

	private Stream<RequestMappingHandlerAdapter> ofMethods() {
		return this.adapters.stream()
			.filter(RequestMappingHandlerAdapter.class::isInstance)
			.map(RequestMappingHandlerAdapter.class::cast);
	}

	private Stream<?> readers() {
		return ofMethods().flatMap((adapter) -> adapter.getMessageReaders().stream()).flatMap(Handling::parts);
	}

	/** Returns a reader and those that read for it. */
	private static Stream<?> parts(HttpMessageReader<?> reader) {
		if (reader instanceof DecoderHttpMessageReader<?> decoding) {
			return Stream.of(reader, decoding.getDecoder());
		}
		return (reader instanceof MultipartHttpMessageReader multipart) ? Stream.of(reader, multipart.getPartReader())
				: Stream.of(reader);
	}

	private static <T> List<T> ordered(ApplicationContext context, Class<T> type) {
		List<T> beans = new ArrayList<>(
				BeanFactoryUtils.beansOfTypeIncludingAncestors(context, type, true, false).values());
		AnnotationAwareOrderComparator.sort(beans);
		return beans;
	}

	/**
	 * Goes one way through the handler.
	 * @param pass what happens when the guard is reached
	 * @return completes when the answer is made, or the way has ended at the guard
	 */
	Mono<Void> handle(Pass pass) {
		ServerWebExchange exchange = pass.exchange();
		Mono<HandlerResult> result = Mono.defer(() -> adapter(pass.handler()).handle(exchange, pass.handler()));
		for (HandlerAdapter adapter : this.adapters) {
			if (adapter instanceof DispatchExceptionHandler handler) {
				result = result.onErrorResume((thrown) -> handler.handleError(exchange, thrown));
			}
		}
		Mono<HandlerResult> called = needsThread(pass.handler()) ? led(result, pass) : result;
		Mono<Void> answered = called.flatMap((made) -> answer(made, pass));
		// The guard may be reached at once, while the way is subscribed.
		return Mono.firstWithSignal(pass.ended(), answered).contextWrite((context) -> context.put(Pass.class, pass));
	}

	/**
	 * Returns whether the request is known by its thread alone, because the handler gives
	 * no {@code Mono} that would ask for the context.
	 */
	private static boolean needsThread(HandlerMethod handler) {
		return WebFluxAdapter.needsThread(handler.getMethod()) || WebFluxAdapter
			.needsThread(AopUtils.getMostSpecificMethod(handler.getMethod(), handler.getBeanType()));
	}

	private Mono<HandlerResult> led(Mono<HandlerResult> result, Pass pass) {
		if (!this.follows) {
			BoundPass.follow();
			this.follows = true;
		}
		return BoundPass.lead(result, pass);
	}

	private HandlerAdapter adapter(HandlerMethod handler) {
		for (HandlerAdapter adapter : this.adapters) {
			if (adapter.supports(handler)) {
				return adapter;
			}
		}
		throw new IllegalStateException("No HandlerAdapter: " + handler);
	}

	/**
	 * Returns whether nothing on the way to the guard of a handler may refuse a request,
	 * so that a duplicate need not go it.
	 */
	boolean isPlain(HandlerMethod handler) {
		return adapter(handler).getClass() == RequestMappingHandlerAdapter.class && this.plain.contains(handler);
	}

	private Mono<Void> answer(HandlerResult result, Pass pass) {
		Mono<Void> answered = pass.made(result, write(result, pass));
		DispatchExceptionHandler handler = result.getExceptionHandler();
		return answered.onErrorResume((thrown) -> {
			pass.failed(thrown);
			return (handler != null)
					? handler.handleError(pass.exchange(), thrown).flatMap((instead) -> write(instead, pass))
					: Mono.error(thrown);
		});
	}

	/** Makes the answer of a result. */
	Mono<Void> write(HandlerResult result, Pass pass) {
		for (HandlerResultHandler handler : this.resultHandlers) {
			if (handler.supports(result)) {
				return handler.handleResult(pass.exchange(), result);
			}
		}
		return Mono.error(new IllegalStateException("No HandlerResultHandler for " + result.getReturnValue()));
	}

	/** Makes the answer of a failure that says its status, as the server would. */
	Mono<Void> render(ServerWebExchange exchange, Throwable failure) {
		Mono<Void> answered = Mono.error(failure);
		for (WebExceptionHandler handler : this.exceptionHandlers) {
			answered = answered.onErrorResume((thrown) -> handler.handle(exchange, thrown));
		}
		return answered;
	}

}
