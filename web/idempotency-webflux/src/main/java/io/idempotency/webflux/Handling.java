package io.idempotency.webflux;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import reactor.core.publisher.Mono;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.DispatchExceptionHandler;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;

/**
 * Calls handlers and makes their answers, as Spring's {@code DispatcherHandler} does,
 * which would make them where nobody holds them back. Thread-safe.
 */
final class Handling {

	private final List<HandlerAdapter> adapters;

	private final List<HandlerResultHandler> resultHandlers;

	private final List<WebExceptionHandler> exceptionHandlers;

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
