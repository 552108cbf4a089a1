package io.idempotency.webflux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyMode;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperationSource;
import io.idempotency.interceptor.KeySource;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.OperationFingerprinter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.http.HandlerRules;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.http.FormData;
import io.idempotency.http.RequestFingerprint;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.engine.GuardedCall;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveTransactionStarter;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;

/**
 * Claims the calls of guarded handlers. Whatever may wait happens here, before Spring
 * calls the handler: the body is read, the claim is sent, a duplicate waits. What stands
 * around the handler then decides whether the request reaches the guard
 * ({@link WebFluxAdapter}): a duplicate, too, must pass it, and what it refuses uses no
 * key.
 * <p>
 * Where the key needs the arguments of the handler, the request goes the way to the guard
 * once before, to have them resolved. Thread-safe.
 */
final class GuardedHandlerAdapter implements HandlerAdapter, Ordered {

	private final ReactiveIdempotencyEngine engine;

	private final OperationKeyReader keys;

	private final OperationFingerprinter fingerprints;

	private final RequestFingerprint requestFingerprint;

	private final WebFluxCallerResolver callers;

	private final HttpSettings settings;

	private final Namespace namespace;

	private final OnDisconnect onDisconnect;

	private final ReactiveProblemHandler problems;

	private final Supplier<IdempotentOperationSource> operations;

	private final Supplier<Handling> handling;

	private final Supplier<GuardedExchange.FormReader> readers;

	/**
	 * Creates the adapter.
	 * @param engine claims
	 * @param keys reads keys
	 * @param fingerprints makes the fingerprints of expressions
	 * @param callers determines the callers, who own the keys
	 * @param settings of the door
	 * @param namespace the namespace of the operations
	 * @param onDisconnect what becomes of the work when the client hangs up
	 * @param problems answers refusals
	 * @param operations knows the operations; is asked at the first request
	 * @param context has the parts of Spring
	 */
	GuardedHandlerAdapter(ReactiveIdempotencyEngine engine, OperationKeyReader keys,
			OperationFingerprinter fingerprints, WebFluxCallerResolver callers, HttpSettings settings,
			Namespace namespace, OnDisconnect onDisconnect, ReactiveProblemHandler problems,
			ObjectProvider<IdempotentOperationSource> operations, ApplicationContext context) {
		this.engine = engine;
		this.keys = keys;
		this.fingerprints = fingerprints;
		this.requestFingerprint = new RequestFingerprint(settings);
		this.callers = callers;
		this.settings = settings;
		this.namespace = namespace;
		this.onDisconnect = onDisconnect;
		this.problems = problems;
		this.operations = SingletonSupplier.of(() -> operations.getObject())::obtain;
		this.handling = SingletonSupplier
			.of(() -> new Handling(context, (adapter) -> adapter instanceof GuardedHandlerAdapter))::obtain;
		this.readers = SingletonSupplier.of(() -> new GuardedExchange.FormReader(
				context.getBean(ServerCodecConfigurer.class).getReaders()))::obtain;
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public boolean supports(Object handler) {
		return handler instanceof HandlerMethod method && operation(method) != null;
	}

	private @Nullable IdempotentOperation operation(HandlerMethod method) {
		return this.operations.get().operation(method.getMethod(), method.getBeanType());
	}

	/**
	 * Answers a request.
	 * @return empty when the request is answered
	 */
	@Override
	public Mono<HandlerResult> handle(ServerWebExchange exchange, Object handler) {
		return Mono.defer(() -> answer(exchange, (HandlerMethod) handler)).then(Mono.empty());
	}

	private Mono<Void> answer(ServerWebExchange exchange, HandlerMethod method) {
		IdempotentOperation operation = operation(method);
		HandlerWay ways = new HandlerWay(method, null, this.handling.get(), this.settings, this.readers.get());
		if (operation == null || HandlerRules.isExempt(operation, exchange.getRequest().getMethod().name())) {
			return ways.go(Pass.toRun(method, exchange, null));
		}
		return answer(ways, exchange, operation);
	}

	/**
	 * Answers a request of a guarded route, inside of the filters that it has passed.
	 * @param route the operation of the route
	 * @param next the handler, with the filters inside of the guard
	 * @return the response for the filters outside, whose record is complete
	 */
	Mono<ServerResponse> answer(ServerRequest request, IdempotentOperation route,
			HandlerFunction<ServerResponse> next) {
		return Mono.deferContextual((context) -> {
			// A route inside of a guarded one is a part of its call.
			if (context.hasKey(RoutedRequest.class) || HandlerRules.isExempt(route, request.method().name())) {
				return next.handle(request);
			}
			RoutedRequest routed = new RoutedRequest(request, route, next, this.namespace);
			HandlerWay ways = new HandlerWay(null, routed, this.handling.get(), this.settings, this.readers.get());
			return answer(ways, RoutedRequest.SeenRequest.exchange(request, route), route)
				.then(Mono.defer(routed::response));
		});
	}

	/** Lets the start say what the store of a route needs. */
	void check(IdempotentOperation route) {
		this.engine.store(route.place().store());
	}

	private Mono<Void> answer(HandlerWay ways, ServerWebExchange exchange, IdempotentOperation operation) {
		return WebFluxCallerResolver.principal(exchange)
			.singleOptional()
			.flatMap((principal) -> new GuardedRequest(ways,
					new KnownRequest(exchange, operation, principal.orElse(null), this.settings.maxRequestSize()))
				.answer());
	}

	/** One request of a guarded handler. */
	private final class GuardedRequest {

		private final HandlerWay ways;

		private final KnownRequest request;

		private final IdempotentOperation operation;

		GuardedRequest(HandlerWay ways, KnownRequest request) {
			this.ways = ways;
			this.request = request;
			this.operation = request.operation();
		}

		Mono<Void> answer() {
			Mono<Function<GuardedRequest, Mono<Void>>> decided = needsArguments() ? afterArguments() : atOnce();
			return decided.onErrorResume(IdempotencyException.class, (refusal) -> Mono.just((any) -> refuse(refusal)))
				.flatMap((next) -> next.apply(this));
		}

		/** Returns whether an expression may name the arguments of the handler. */
		private boolean needsArguments() {
			return this.operation.key().source() instanceof KeySource.Spel || this.operation.key().condition() != null
					|| this.operation.key().scope() != null
					|| this.operation.fingerprint() instanceof FingerprintSource.Spel;
		}

		private Mono<Function<GuardedRequest, Mono<Void>>> atOnce() {
			KeySource source = this.operation.key().source();
			return (source instanceof KeySource.Header header)
					? Mono.defer(
							() -> withKey(GuardedHandlerAdapter.this.keys.header(this.operation, header, this.request)))
					: this.request.read().flatMap((read) -> withKey(keyOfBody((KeySource.Body) source)));
		}

		private Mono<Function<GuardedRequest, Mono<Void>>> withKey(@Nullable String key) {
			return (key != null) ? caller().flatMap((caller) -> claim(key(caller, key), null)) : withoutKey();
		}

		private @Nullable String keyOfBody(KeySource.Body source) {
			return GuardedHandlerAdapter.this.keys.fromClient(this.operation,
					"at '" + source.pointer() + "' of the body", () -> this.request.body(source.pointer()));
		}

		private IdempotencyKey key(Caller caller, String key) {
			return this.operation.key().token() ? GuardedHandlerAdapter.this.namespace.token(caller, key)
					: GuardedHandlerAdapter.this.namespace.key(this.operation.name(), caller, key);
		}

		private Mono<Caller> caller() {
			return GuardedHandlerAdapter.this.callers.owner(this.request.exchange(), this.request.principal(),
					this.operation.name());
		}

		private Mono<Function<GuardedRequest, Mono<Void>>> withoutKey() {
			return this.operation.key().required() ? Mono.error(HandlerRules.keyMissing(this.operation))
					: Mono.just(GuardedRequest::unguarded);
		}

		private Mono<Void> unguarded() {
			if (!this.request.isRead()) {
				return this.ways.go(Pass.toRun(this.ways.handler(), this.request.exchange(), null));
			}
			GuardedExchange exchange = this.ways.exchange(this.request);
			return this.ways.go(Pass.toRun(this.ways.handler(), exchange, null)).then(this.ways.send(exchange.held()));
		}

		private Mono<Function<GuardedRequest, Mono<Void>>> afterArguments() {
			return this.request.read().flatMap((read) -> {
				GuardedExchange exchange = this.ways.exchange(read);
				Pass pass = Pass.toTheGuard(this.ways.handler(), exchange);
				return this.ways.go(pass).then(Mono.defer(() -> {
					OperationCall call = pass.call();
					return (call != null) ? withArguments(call)
							// Something before the guard has answered.
							: Mono.just((any) -> exchange.held().push());
				}));
			});
		}

		private Mono<Function<GuardedRequest, Mono<Void>>> withArguments(OperationCall call) {
			if (!call.isGuarded(this.request)) {
				return Mono.just(GuardedRequest::unguarded);
			}
			List<String> parts = GuardedHandlerAdapter.this.keys.parts(call, this.request);
			if (parts.isEmpty()) {
				return withoutKey();
			}
			if (FormData.isLossy(parts) && this.request.isLossy()) {
				throw new IdempotencyKeyInvalidException(this.operation.name(),
						"The key has bytes that are no text in the charset of the request: send it in UTF-8");
			}
			Mono<Caller> caller = (this.operation.key().scope() != null) ? Mono.just(Caller.GLOBAL) : caller();
			return caller.flatMap((owner) -> claim(call.key(parts, owner, this.request), call));
		}

		private Mono<Function<GuardedRequest, Mono<Void>>> claim(IdempotencyKey key, @Nullable OperationCall call) {
			// A look-up goes the way to the guard once more, with the same body.
			Mono<Fingerprint> fingerprint = this.operation.options().recoverable()
					? this.request.read().flatMap((read) -> fingerprint(call)) : fingerprint(call);
			return fingerprint.map((compared) -> {
				GuardedCall guarded = new GuardedCall(key, compared, this.operation.options(),
						this.operation.place().store());
				return (any) -> execute(guarded);
			});
		}

		private Mono<Fingerprint> fingerprint(@Nullable OperationCall call) {
			boolean compared = this.operation.options().mode() == IdempotencyMode.REPLAY;
			if (compared && this.operation.fingerprint() instanceof FingerprintSource.Default) {
				return this.request.read().map(this::fingerprint);
			}
			if (compared && call != null && this.operation.fingerprint() instanceof FingerprintSource.Spel source) {
				return Mono.fromSupplier(() -> GuardedHandlerAdapter.this.fingerprints.of(call, source, this.request));
			}
			return Mono.just(Fingerprint.NONE);
		}

		private Fingerprint fingerprint(KnownRequest read) {
			try {
				return GuardedHandlerAdapter.this.requestFingerprint.of(read, this.operation.key().source());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private Mono<Void> execute(GuardedCall guarded) {
			HandledCall call = new HandledCall(this.ways, this.request, GuardedHandlerAdapter.this.settings,
					GuardedHandlerAdapter.this.onDisconnect);
			Mono<Supplier<Mono<Void>>> decided = GuardedHandlerAdapter.this.engine
				.execute(guarded, call, GuardedHandlerAdapter.this.onDisconnect,
						(ReactiveTransactionStarter) this.operation.place().transactions())
				.map((result) -> () -> deliver(result));
			return decided
				.onErrorResume(IdempotencyException.class,
						(refusal) -> call.hasBegun() && !call.isDuplicateRefused() ? Mono.error(refusal)
								: Mono.just(() -> call.hasBegun() ? problem(refusal) : refuse(refusal)))
				.flatMap(Supplier::get)
				.doOnCancel(this.request::clientIsGone);
		}

		private Mono<Void> deliver(HandledCall.Result result) {
			if (result.made() != null) {
				if (result.replayed()) {
					result.made().mark(new ResponseReplay(GuardedHandlerAdapter.this.settings));
				}
				return this.ways.send(result.made());
			}
			if (this.ways.isPlain()) {
				return replay(result.stored());
			}
			GuardedExchange exchange = this.ways.exchange(this.request);
			Pass pass = Pass.toTheGuard(this.ways.handler(), exchange);
			return this.ways.go(pass)
				.then(Mono.defer(() -> (pass.call() != null) ? replay(result.stored()) : exchange.held().push()));
		}

		private Mono<Void> replay(@Nullable StoredResponse stored) {
			return this.ways.send((stored != null) ? stored.status() : 0,
					() -> new ResponseReplay(GuardedHandlerAdapter.this.settings).replay(stored,
							this.request.exchange()));
		}

		/** Refuses the request where it reaches the guard. */
		private Mono<Void> refuse(IdempotencyException refusal) {
			HandlerMethod handler = this.ways.handler();
			boolean own = handler != null
					&& GuardedHandlerAdapter.this.problems.isHandledByApplication(handler, refusal);
			if (refusal instanceof IdempotencyBodyTooLargeException) {
				// Without its body the request does not reach the guard.
				return own ? Mono.error(refusal) : problem(refusal);
			}
			GuardedExchange exchange = this.ways.exchange(this.request);
			Pass pass = own ? Pass.toRefuse(this.ways.handler(), exchange, refusal)
					: Pass.toTheGuard(this.ways.handler(), exchange);
			return this.ways.go(pass)
				.then(Mono.defer(() -> (own || pass.call() == null) ? exchange.held().push() : problem(refusal)));
		}

		private Mono<Void> problem(IdempotencyException refusal) {
			return this.ways.send(refusal.status(),
					() -> GuardedHandlerAdapter.this.problems.refuse(refusal, this.operation, this.request.exchange()));
		}

	}

}
