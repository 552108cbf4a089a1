package io.idempotency.webflux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.Principal;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.engine.GuardedCall;
import io.idempotency.http.HandlerRules;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RequestFingerprint;
import io.idempotency.http.StoredResponse;
import io.idempotency.http.StoredResponse.StoredResponseCodec;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.MethodAdapter.OperationFingerprinter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveAction;
import io.idempotency.reactor.ReactiveClaim;
import io.idempotency.reactor.ReactiveIdempotencyContext;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveClaim.SurroundingTransaction;
import io.idempotency.reactor.ReactiveIdempotencyEngine.SurroundingTransactions;
import io.idempotency.reactor.ReactiveTransactionStarter;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

import org.springframework.web.method.HandlerMethod;

/** Claims handler calls when their results are subscribed, and runs them. Thread-safe. */
final class HandlerGuard {

	private final ReactiveIdempotencyEngine engine;

	private final OperationKeyReader keys;

	private final OperationFingerprinter fingerprints;

	private final RequestFingerprint requestFingerprint;

	private final WebFluxCallerResolver callers;

	private final HttpSettings settings;

	private final OnDisconnect onDisconnect;

	private final ReactiveProblemHandler problems;

	HandlerGuard(ReactiveIdempotencyEngine engine, OperationKeyReader keys, OperationFingerprinter fingerprints,
			WebFluxCallerResolver callers, HttpSettings settings, OnDisconnect onDisconnect,
			ReactiveProblemHandler problems) {
		this.engine = engine;
		this.keys = keys;
		this.fingerprints = fingerprints;
		this.requestFingerprint = new RequestFingerprint(settings);
		this.callers = callers;
		this.settings = settings;
		this.onDisconnect = onDisconnect;
		this.problems = problems;
	}

	/** Creates the reactive store of an operation, and logs whether it needs threads. */
	void check(IdempotentOperation operation) {
		this.engine.store(operation.place().store());
	}

	/**
	 * Guards a call whose handler returns a single value.
	 * @param request the request whose body the handler reads
	 * @param result adapts the results of handler and lookup
	 * @return the value of the handler, or the result that was found; empty if the
	 * response was replaced
	 */
	Mono<Object> one(OperationCall call, GuardedExchange exchange, CachedRequest request, Mono<Principal> principal,
			HandlerResults result) {
		return enter(call, exchange, request, principal, result)
			.flatMap((entry) -> follow(entry, call, exchange, result)
				// Work that emitted its value is not cancelled.
				.singleOrEmpty());
	}

	/** Guards a call whose handler returns any number of values. */
	Flux<Object> many(OperationCall call, GuardedExchange exchange, Mono<Principal> principal, HandlerResults result) {
		return enter(call, exchange, exchange.getRequest(), principal, result)
			.flatMapMany((entry) -> follow(entry, call, exchange, result));
	}

	private Flux<Object> follow(Entry entry, OperationCall call, GuardedExchange exchange, HandlerResults result) {
		HandlerCall owned = entry.owned();
		if (entry.isFound()) {
			return result.values(entry.found());
		}
		return exchange.catching((owned != null) ? run(owned, call, exchange, result) : unguarded(call, result));
	}

	private Mono<Entry> enter(OperationCall call, GuardedExchange exchange, CachedRequest request,
			Mono<Principal> principal, HandlerResults result) {
		HandlerCall earlier = exchange.call();
		if (exchange.isOver()) {
			return Mono.error(new CancellationException("The request is over"));
		}
		if (exchange.getResponse().isReplaced()) {
			return Mono.empty();
		}
		if (earlier != null) {
			// Advice calls the handler again, which is part of the guarded call.
			String rejection = (call.operation().place().transactions() != null)
					? "the transaction that it joined ended" : earlier.rejection();
			return (rejection == null) ? Mono.just(Entry.run(earlier))
					: Mono.error(new GuardMisconfiguredException(
							"The handler is called again, but " + rejection + ". Place retries inside the guard",
							null));
		}
		if (HandlerRules.isExempt(call.operation(), exchange.getRequest().getMethod().name())) {
			return Mono.just(Entry.run(null));
		}
		return principal.singleOptional()
			.flatMap((user) -> guarded(call,
					new WebFluxRequestValues(exchange, request, call.operation(), user.orElse(null))))
			.flatMap((guarded) -> guarded.isEmpty() ? Mono.just(Entry.run(null))
					: claim(guarded.get(), call, exchange, result))
			.onErrorResume((thrown) -> isRejection(thrown, exchange),
					(thrown) -> reject((IdempotencyException) thrown, call, exchange))
			.doFinally((end) -> exchange.getResponse().decided())
			.doOnNext((entry) -> exchange.getResponse().decided());
	}

	/**
	 * Returns whether this call was rejected. A handler that joins a transaction may also
	 * fail here with the rejection of a nested call.
	 */
	private static boolean isRejection(Throwable thrown, GuardedExchange exchange) {
		HandlerCall owned = exchange.call();
		return thrown instanceof IdempotencyException && (owned == null || !owned.hasFailedWith(thrown));
	}

	/** Reads the key, empty for a call that is not guarded. */
	private Mono<Optional<GuardedCall>> guarded(OperationCall call, WebFluxRequestValues values) {
		IdempotentOperation operation = call.operation();
		if (!operation.key().required() && operation.key().source() instanceof KeySource.Header header
				&& values.header(header.name()) == null) {
			return Mono.just(Optional.empty());
		}
		return values.read().then(Mono.defer(() -> {
			if (!call.isGuarded(values)) {
				return Mono.just(Optional.empty());
			}
			List<String> parts = HandlerRules.key(this.keys, call, values);
			if (parts.isEmpty()) {
				return Mono.just(Optional.empty());
			}
			Mono<Caller> caller = (operation.key().scope() != null) ? Mono.just(Caller.GLOBAL)
					: this.callers.owner(values.exchange(), values.principal(), operation.name());
			return caller.map((owner) -> Optional.of(new GuardedCall(call.key(parts, owner, values),
					fingerprint(call, values), operation.options(), operation.place().store())));
		}));
	}

	private Fingerprint fingerprint(OperationCall call, WebFluxRequestValues values) {
		IdempotentOperation operation = call.operation();
		boolean compared = operation.options().mode() == IdempotencyMode.REPLAY;
		if (compared && operation.fingerprint() instanceof FingerprintSource.Spel source) {
			return this.fingerprints.of(call, source, values);
		}
		if (!compared || !(operation.fingerprint() instanceof FingerprintSource.Default)) {
			return Fingerprint.NONE;
		}
		try {
			return this.requestFingerprint.of(values, operation.key().source());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Mono<Entry> claim(GuardedCall guarded, OperationCall call, GuardedExchange exchange,
			HandlerResults result) {
		return this.engine.execute(guarded, new ClaimedHandler(call, exchange, result), OnDisconnect.CANCEL,
				(ReactiveTransactionStarter) call.operation().place().transactions());
	}

	/**
	 * Writes a rejection as a problem, unless the application has an exception handler
	 * for it.
	 */
	private <T> Mono<T> reject(IdempotencyException rejection, OperationCall call, GuardedExchange exchange) {
		HandlerMethod handler = exchange.handler();
		if (handler != null && this.problems.isHandledByApplication(handler, rejection)) {
			return Mono.error(rejection);
		}
		exchange.getResponse()
			.replaceWith(rejection.status(),
					() -> this.problems.reject(rejection, call.operation(), exchange.getDelegate()));
		return Mono.empty();
	}

	private Flux<Object> run(HandlerCall owned, OperationCall call, GuardedExchange exchange, HandlerResults result) {
		Flux<Object> work = result
			.observed(owned, () -> called(owned, call, result),
					(duplicate, ofBody) -> owned.claim()
						.recoverDuplicate(duplicate, ofBody ? null : () -> result.lookUp(call))
						.doOnNext((found) -> owned.recovered())
						.doOnError(IdempotencyException.class, (none) -> owned.duplicate())
						.onErrorResume(IdempotencyException.class, (rejection) -> reject(rejection, call, exchange)))
			.contextWrite(owned.claim()::inside);
		if (!result.transactional() || owned.claim().isSurrounded()) {
			return work;
		}
		// If the client of a stream disconnects, the transaction of the stream decides.
		SurroundingTransactions transactions = this.engine.transactions();
		Context own = transactions.newContext();
		return work.doOnCancel(() -> {
			SurroundingTransaction transaction = transactions.of(own);
			if (transaction != null) {
				try {
					owned.claim().endsWith(transaction);
				}
				catch (IllegalStateException ended) {
					owned.claim().surroundingEnded(TransactionOutcome.UNKNOWN, true).subscribe();
				}
			}
		}).contextWrite((context) -> context.putAll(own.readOnly()));
	}

	private static Flux<Object> called(HandlerCall owned, OperationCall call, HandlerResults result) {
		return result.publisher(() -> {
			try (IdempotencyContextHolder.Binding binding = owned.claim().enter()) {
				return call.again().run();
			}
		});
	}

	/** Runs a handler that is not guarded. */
	static Flux<Object> unguarded(OperationCall call, HandlerResults result) {
		return Flux.defer(() -> result.publisher(call.again()::runUnguarded))
			.contextWrite(ReactiveIdempotencyContext::without);
	}

	/**
	 * The result of a claim.
	 *
	 * @param owned the claimed call, {@code null} for an unguarded call
	 * @param isFound whether the result was found, so that the handler does not run
	 * @param found the result
	 */
	record Entry(@Nullable HandlerCall owned, boolean isFound, @Nullable Object found) {

		static Entry run(@Nullable HandlerCall owned) {
			return new Entry(owned, false, null);
		}

		static Entry found(Object found) {
			return new Entry(null, true, found);
		}

	}

	/** Adapts the call to the engine. The response ends the claim. */
	private final class ClaimedHandler implements ReactiveAction<Entry> {

		private final OperationCall call;

		private final GuardedExchange exchange;

		private final HandlerResults result;

		private volatile @Nullable HandlerCall owned;

		ClaimedHandler(OperationCall call, GuardedExchange exchange, HandlerResults result) {
			this.call = call;
			this.exchange = exchange;
			this.result = result;
		}

		@Override
		public void acquired(ReactiveClaim claim) {
			// Outside a transaction that is rolled back, the work must not continue.
			boolean continues = HandlerGuard.this.onDisconnect == OnDisconnect.CONTINUE && !claim.isSurrounded();
			HandlerCall made = new HandlerCall(this.call, claim, this.exchange, HandlerGuard.this.settings, continues);
			this.owned = made;
			this.exchange.claimed(made, continues);
		}

		/**
		 * Runs a handler that joins a transaction. Other handlers run after this method.
		 */
		@Override
		public Mono<Entry> run() {
			HandlerCall claimed = this.owned;
			if (claimed == null || this.call.operation().place().transactions() == null) {
				return Mono.just(Entry.run(claimed));
			}
			// The engine looks up the result of a duplicate after the rollback.
			return this.result
				.observed(claimed, () -> called(claimed, this.call, this.result),
						(duplicate, ofBody) -> Mono.error(duplicate))
				.singleOrEmpty()
				.map(Entry::found);
		}

		@Override
		public boolean isDuplicate(Throwable failure) {
			return this.call.isDuplicate(HandlerCall.HandlerError.cause(failure));
		}

		@Override
		public Mono<Entry> recover() {
			return this.result.lookUp(this.call).map(Entry::found);
		}

		@Override
		public @Nullable Entry replay(StoredResult result) {
			StoredResponse stored = StoredResponseCodec.decode(result);
			if (!stored.answers(this.exchange.range())) {
				throw new IdempotencyKeyReusedException(this.call.operation().name());
			}
			this.exchange.getResponse()
				.replaceWith(stored.status(), () -> new ResponseReplay(HandlerGuard.this.settings).replay(stored,
						this.exchange.getDelegate()));
			return null;
		}

		@Override
		public Entry replayRecovered(Entry found) {
			this.exchange.getResponse().mark(new ResponseReplay(HandlerGuard.this.settings));
			return found;
		}

		@Override
		public CallOutcome returned(@Nullable Entry entry, boolean recovered) {
			HandlerCall claimed = this.owned;
			if (recovered && claimed != null) {
				claimed.recovered();
			}
			return new CallOutcome.Deferred(new CompletableFuture<>());
		}

		@Override
		public CallOutcome threw(Throwable failure) {
			return new CallOutcome.Deferred(new CompletableFuture<>());
		}

		@Override
		public CallOutcome gaveUp(Throwable failure) {
			return new CallOutcome.NotRun(failure);
		}

	}

}
