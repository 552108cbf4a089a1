package io.idempotency.webflux;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.IdempotencyException;
import io.idempotency.http.HandlerRules;
import io.idempotency.http.HttpSettings;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * Prepares requests that may reach a guarded handler. Their bodies can be read again, and
 * their responses can be buffered. The filter is the last one, after Spring Security.
 * Other requests are not changed. Thread-safe.
 * <p>
 * A claimed call does not depend on its client. The rest of the chain is subscribed
 * independently of the client, unless the application configured cancellation.
 */
final class IdempotencyWebFilter implements WebFilter, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyWebFilter.class);

	private final HttpSettings settings;

	private final Supplier<IdempotentOperationSource> operations;

	private final BooleanSupplier hasRoutes;

	private final Supplier<List<RequestMappingInfoHandlerMapping>> mappings;

	private final Supplier<GuardedExchange.Spring> spring;

	/** Computed at the first request, because filters are created before handlers. */
	private final SingletonSupplier<Boolean> guardsSafeMethods = SingletonSupplier.of(this::hasGuardOfSafeMethod);

	/**
	 * Creates the filter.
	 * @param hasRoutes returns whether guarded functional routes exist
	 */
	IdempotencyWebFilter(HttpSettings settings, Supplier<IdempotentOperationSource> operations,
			BooleanSupplier hasRoutes, Supplier<List<RequestMappingInfoHandlerMapping>> mappings,
			Supplier<GuardedExchange.Spring> spring) {
		this.settings = settings;
		this.operations = operations;
		this.hasRoutes = hasRoutes;
		this.mappings = mappings;
		this.spring = spring;
	}

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		return match(exchange).flatMap((match) -> {
			boolean mayMeetRoute = this.hasRoutes.getAsBoolean()
					&& !HandlerRules.isSafe(exchange.getRequest().getMethod().name());
			if (!match.mayBeGuarded() && !mayMeetRoute) {
				return chain.filter(exchange)
					.contextWrite((context) -> context.put(WebFluxRequests.EXCHANGE, exchange));
			}
			return guard(exchange, chain, match);
		});
	}

	private Mono<Match> match(ServerWebExchange exchange) {
		if (HandlerRules.isSafe(exchange.getRequest().getMethod().name()) && !this.guardsSafeMethods.obtain()) {
			return Mono.just(Match.NONE);
		}
		List<RequestMappingInfoHandlerMapping> all = this.mappings.get();
		Function<RequestMappingInfoHandlerMapping, Mono<HandlerMethod>> lookup = (mapping) -> mapping
			.getHandlerInternal(exchange);
		Mono<HandlerMethod> found = (all.size() == 1) ? lookup.apply(all.get(0))
				: Flux.fromIterable(all).concatMap(lookup).next();
		return found.map((handler) -> match(handler, exchange))
			.defaultIfEmpty(Match.NONE)
			// Spring handles the request, possibly with more information.
			.onErrorReturn(Match.UNKNOWN);
	}

	/** Returns whether a handler of GET or another safe HTTP method is guarded. */
	private boolean hasGuardOfSafeMethod() {
		return this.mappings.get()
			.stream()
			.flatMap((mapping) -> mapping.getHandlerMethods().entrySet().stream())
			.anyMatch((handler) -> mayTakeSafeMethod(handler.getKey()) && isGuarded(handler.getValue()));
	}

	private static boolean mayTakeSafeMethod(RequestMappingInfo mapping) {
		Set<RequestMethod> methods = mapping.getMethodsCondition().getMethods();
		return methods.isEmpty() || methods.stream().anyMatch((method) -> HandlerRules.isSafe(method.name()));
	}

	private boolean isGuarded(HandlerMethod handler) {
		IdempotentOperation operation = this.operations.get().operation(handler.getMethod(), handler.getBeanType());
		return operation != null && operation.guarded().declaredOnMethod();
	}

	private Match match(HandlerMethod handler, ServerWebExchange exchange) {
		IdempotentOperation operation = this.operations.get().operation(handler.getMethod(), handler.getBeanType());
		return (operation == null || HandlerRules.isExempt(operation, exchange.getRequest().getMethod().name()))
				? Match.NONE : new Match(true, operation);
	}

	private Mono<Void> guard(ServerWebExchange exchange, WebFilterChain chain, Match match) {
		return Mono.create((sink) -> {
			GuardedExchange guarded = new GuardedExchange(exchange, this.settings.maxRequestSize(),
					this.settings.maxResponseSize(), this.spring.get());
			Mono<Void> rest = Mono.defer(() -> chain.filter(guarded));
			IdempotentOperation operation = match.operation();
			if (!match.mayBeGuarded()) {
				// A route is claimed before its response is written, so the response does
				// not wait.
				guarded.getResponse().decided();
			}
			boolean caches = match.mayBeGuarded()
					&& (operation == null || match.mayHaveKey(exchange) && WebFluxRequestValues.needsBody(operation));
			if (caches) {
				guarded.getRequest().cache();
			}
			if (caches && operation != null && match.mayHaveKey(exchange)) {
				// A body that is too large or incomplete does not reach a handler.
				Mono<Void> whole = rest;
				rest = guarded.getRequest()
					.read(operation.name())
					.hasElement()
					.onErrorResume(IdempotencyException.class,
							(rejection) -> guarded.render(rejection).then(Mono.empty()))
					.flatMap((read) -> whole);
			}
			new GuardedChain(guarded, sink).start(rest);
		});
	}

	/**
	 * The known facts about a request.
	 *
	 * @param mayBeGuarded whether it may reach a guarded controller method
	 * @param operation the operation of that method, {@code null} if it is unknown
	 */
	private record Match(boolean mayBeGuarded, @Nullable IdempotentOperation operation) {

		static final Match NONE = new Match(false, null);

		static final Match UNKNOWN = new Match(true, null);

		boolean mayHaveKey(ServerWebExchange exchange) {
			IdempotentOperation known = this.operation;
			return known == null || known.key().required() || !(known.key().source() instanceof KeySource.Header header)
					|| exchange.getRequest().getHeaders().getFirst(header.name()) != null;
		}

	}

	/** The subscription to the rest of the chain. */
	private static final class GuardedChain extends BaseSubscriber<Void> {

		private final GuardedExchange exchange;

		private final MonoSink<Void> client;

		private final Context context;

		private volatile boolean clientIsGone;

		private volatile Disposable bound = Disposables.disposed();

		GuardedChain(GuardedExchange exchange, MonoSink<Void> client) {
			this.exchange = exchange;
			this.client = client;
			this.context = Context.of(client.contextView())
				.put(GuardedExchange.class, exchange)
				.put(WebFluxRequests.EXCHANGE, exchange);
		}

		void start(Mono<Void> rest) {
			this.client.onCancel(this::clientIsGone);
			this.exchange.onJvmError(this::broken);
			try {
				rest.onErrorResume(this::failed)
					.then(Mono.defer(this.exchange.getResponse()::finish))
					.onErrorResume((thrown) -> this.exchange.cleanupMultipart()
						.then(responseFailed(thrown))
						.then(Mono.error(thrown)))
					.then(Mono.defer(this.exchange::cleanupMultipart))
					.subscribe(this);
			}
			catch (Throwable ex) {
				broken(ex);
			}
		}

		private void broken(Throwable error) {
			this.exchange.end();
			cancel();
			cancelCall();
			this.client.error(HandlerCall.HandlerError.signal(error));
		}

		private Mono<Void> failed(Throwable thrown) {
			HandlerCall call = this.exchange.call();
			if (call != null) {
				return call.failed(thrown);
			}
			return this.exchange.getResponse().isReplaced() ? Mono.empty() : Mono.error(thrown);
		}

		private Mono<Void> responseFailed(Throwable thrown) {
			this.exchange.getResponse().passActions();
			HandlerCall call = this.exchange.call();
			return (call != null) ? call.responseFailed(thrown) : Mono.empty();
		}

		private void clientIsGone() {
			this.clientIsGone = true;
			this.exchange.clientIsGone();
			HandlerCall call = this.exchange.call();
			if (call != null && call.continues()) {
				call.claim().detached();
				if (call.joins()) {
					// The lock on the row of the record does not expire.
					this.bound = Schedulers.parallel()
						.schedule(this::stop, call.claim().longestDetached().toMillis(), TimeUnit.MILLISECONDS);
				}
				return;
			}
			stop();
		}

		private void stop() {
			this.exchange.end();
			cancel();
			cancelCall();
		}

		private void cancelCall() {
			HandlerCall call = this.exchange.call();
			if (call != null) {
				call.chainCancelled();
			}
		}

		@Override
		public Context currentContext() {
			return this.context;
		}

		@Override
		protected void hookFinally(SignalType type) {
			this.bound.dispose();
		}

		@Override
		protected void hookOnComplete() {
			this.exchange.end();
			this.client.success();
		}

		@Override
		protected void hookOnError(Throwable thrown) {
			this.exchange.end();
			if (!this.clientIsGone) {
				this.client.error(thrown);
			}
			else if (!this.exchange.getResponse().hasLostClient()
					&& !DisconnectedClientHelper.isClientDisconnectedException(thrown)) {
				logger.info("A request failed after its client disconnected: {} {}",
						this.exchange.getRequest().getMethod(), this.exchange.getRequest().getURI().getRawPath(),
						thrown);
			}
		}

	}

}
