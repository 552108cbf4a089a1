package io.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.List;
import java.util.concurrent.CompletionStage;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

import io.idempotency.interceptor.DeferredResultTypes;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyMode;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.OperationCall;
import io.idempotency.interceptor.InvocationAdapter;
import io.idempotency.interceptor.MethodAdapter.OperationFingerprinter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.OperationTraits;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.engine.GuardedAction;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.GuardedAction.TransactionHandle;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.http.HandlerRules;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse.StoredResponseCodec;
import io.idempotency.http.RequestFingerprint;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.CallOutcome;
import io.idempotency.http.HttpOutcomeClassifier.Work;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.StoredResult;
import io.idempotency.web.HandlerProgress.Stage;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * The adapter of the method that handles the current request. The result of a call is the
 * response that the client receives, which is stored as bytes. Thread-safe.
 * <p>
 * A request reaches the adapter after binding, validation and method security. A request
 * that they reject does not use a key. Calls that the handler makes are part of its call.
 * Only a call of another guarded method is a separate operation, through the method
 * adapter.
 */
final class WebMvcAdapter implements InvocationAdapter {

	private final IdempotencyEngine engine;

	private final OperationKeyReader keyReader;

	private final OperationFingerprinter fingerprinter;

	private final RequestFingerprint requestFingerprint;

	private final WebMvcCallerResolver callerResolver;

	/**
	 * Creates the adapter.
	 * @param fingerprinter creates the fingerprints of expressions
	 * @param callerResolver determines the callers, to whom the keys belong
	 */
	WebMvcAdapter(IdempotencyEngine engine, OperationKeyReader keyReader, OperationFingerprinter fingerprinter,
			WebMvcCallerResolver callerResolver, HttpSettings settings) {
		this.engine = engine;
		this.keyReader = keyReader;
		this.fingerprinter = fingerprinter;
		this.requestFingerprint = new RequestFingerprint(settings);
		this.callerResolver = callerResolver;
	}

	@Override
	public OperationTraits traits(Method method, Class<?> targetClass) {
		return HandlerRules.traits(method, targetClass);
	}

	/**
	 * {@inheritDoc} Rejects asynchronous recover methods except those that return a
	 * future. The adapter cannot see their result, so a lookup would count as successful
	 * before it begins.
	 */
	@Override
	public void check(IdempotentOperation operation) {
		Method recover = operation.result().recover();
		if (recover == null || !operation.traits().has(OperationTraits.Flag.HANDLER)) {
			return;
		}
		Class<?> given = ResolvableType.forMethodReturnType(recover, operation.guarded().targetClass()).toClass();
		if (DeferredResultTypes.isSuspend(recover)
				|| DeferredResultTypes.include(given) && !CompletionStage.class.isAssignableFrom(given)) {
			throw operation.problem(
					"its recover method '" + recover.getName()
							+ "' returns an asynchronous result, which a Spring MVC handler does not support",
					"Return the value itself or a CompletableFuture from both methods, or use Spring WebFlux");
		}
	}

	@Override
	public boolean supports(OperationCall call) {
		HttpServletRequest request = HttpRequestValues.currentRequest();
		return request != null && isHandler(request, call.operation());
	}

	private static boolean isHandler(HttpServletRequest request, IdempotentOperation operation) {
		return request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerMethod handler
				&& HandlerRules.isOf(handler, operation.guarded());
	}

	@Override
	public @Nullable Object invoke(OperationCall call) throws Throwable {
		HttpServletRequest request = HttpRequestValues.currentRequest();
		if (request == null) {
			throw new IllegalStateException("The call is not inside a request handler");
		}
		return invoke(call, request, request);
	}

	/**
	 * Guards the call of a route.
	 * @param routed the request of the route. A filter outside the guard may set its
	 * principal
	 */
	@Nullable Object invoke(OperationCall call, ServerRequest routed) throws Throwable {
		HttpServletRequest current = HttpRequestValues.currentRequest();
		HttpServletRequest request = (current != null) ? current : routed.servletRequest();
		return invoke(call, request, new HttpServletRequestWrapper(request) {

			@Override
			public @Nullable Principal getUserPrincipal() {
				return routed.principal().orElse(null);
			}

			@Override
			public @Nullable String getRemoteUser() {
				return routed.principal().map(Principal::getName).orElse(null);
			}

		});
	}

	private @Nullable Object invoke(OperationCall call, HttpServletRequest request, HttpServletRequest identified)
			throws Throwable {
		Exchange exchange = Exchange.find(request);
		ClaimedResponse earlier = (exchange != null) ? exchange.claimed() : null;
		if (exchange != null && earlier != null && !earlier.endsIfGone(call.operation().name())) {
			return earlier.isOf(call.operation())
					? new HttpCall(call, request, exchange, this.engine, earlier).runAgain() : runWithin(call);
		}
		if (exchange != null && exchange.isReplayed()) {
			// Code around the handler calls it again after the replay signal.
			throw new HandledResponse.ReplaySignal();
		}
		IdempotentOperation operation = call.operation();
		HttpRequestValues values = new HttpRequestValues(request);
		if (HandlerRules.isExempt(operation, request.getMethod()) || !call.isGuarded(values)) {
			return call.runUnguarded();
		}
		List<String> parts = HandlerRules.key(this.keyReader, call, values);
		if (parts.isEmpty()) {
			return call.runUnguarded();
		}
		if (exchange == null) {
			throw Exchange.missing(request, "guard a call of '" + operation.name() + "'");
		}
		GuardedCall guarded = new GuardedCall(key(call, parts, exchange, identified, values),
				fingerprint(call, request, values), operation.options(), operation.place().store());
		if (exchange.isRejected()) {
			throw new HandledResponse.ReplaySignal();
		}
		Object result = this.engine.execute(guarded, new HttpCall(call, request, exchange, this.engine, null),
				operation.place().ofThreads());
		if (exchange.isReplayed()) {
			// Not thrown inside the engine, because propagating it through the engine
			// would take longer than the whole replay.
			throw new HandledResponse.ReplaySignal();
		}
		return result;
	}

	/**
	 * Runs a handler as part of the guarded call of another handler, which forwarded the
	 * request. The handler has the same transaction guarantees as without a forward.
	 */
	private static @Nullable Object runWithin(OperationCall call) throws Throwable {
		TransactionStarter transactions = call.operation().place().ofThreads();
		if (transactions == null) {
			return call.run();
		}
		TransactionStarter.StartedTransaction transaction = transactions.begin((outcome) -> {
		});
		Object result;
		try {
			result = call.run();
		}
		catch (Throwable thrown) {
			transaction.rollback(thrown);
			throw thrown;
		}
		transaction.commit();
		return result;
	}

	private IdempotencyKey key(OperationCall call, List<String> parts, Exchange exchange, HttpServletRequest request,
			RequestValues values) {
		IdempotentOperation operation = call.operation();
		// If the annotation specifies the scope, the caller does not need a name.
		Caller caller = (operation.key().scope() != null) ? Caller.GLOBAL
				: this.callerResolver.owner(request, operation.name());
		IdempotencyKey made = exchange.key(operation, caller, parts);
		return (made != null) ? made : call.key(parts, caller, values);
	}

	private Fingerprint fingerprint(OperationCall call, HttpServletRequest request, HttpRequestValues values)
			throws IOException {
		IdempotentOperation operation = call.operation();
		if (RecordingRequest.find(request) == null) {
			throw Exchange.missing(request, "compare a request of '" + operation.name() + "'");
		}
		boolean compared = operation.options().mode() == IdempotencyMode.REPLAY;
		if (compared && operation.fingerprint() instanceof FingerprintSource.Default) {
			return this.requestFingerprint.of(values, operation.key().source());
		}
		if (compared && operation.fingerprint() instanceof FingerprintSource.Spel source) {
			return this.fingerprinter.of(call, source, values);
		}
		return Fingerprint.NONE;
	}

	/**
	 * One call of a guarded handler. Its result is only the beginning of its response, so
	 * the filter reports the outcome of the call.
	 */
	private static final class HttpCall implements GuardedAction<Object> {

		/**
		 * The attribute with which Spring notifies other filters that a response is
		 * written in parts.
		 */
		private static final String STREAMING = ShallowEtagHeaderFilter.class.getName() + ".STREAMING";

		private final OperationCall call;

		private final HttpServletRequest request;

		private final Exchange exchange;

		private final IdempotencyEngine engine;

		/** Whether the handler is called again inside its claim. */
		private final boolean again;

		private @Nullable ClaimedResponse answer;

		/** Whether other threads may continue the work after the handler returned. */
		private boolean goesOn;

		HttpCall(OperationCall call, HttpServletRequest request, Exchange exchange, IdempotencyEngine engine,
				@Nullable ClaimedResponse earlier) {
			this.call = call;
			this.request = request;
			this.exchange = exchange;
			this.engine = engine;
			this.again = earlier != null;
			this.answer = earlier;
		}

		/**
		 * Runs a handler that is called again, by itself or by advice. The last call
		 * determines the stored response.
		 */
		@Nullable Object runAgain() throws Throwable {
			ClaimedResponse claimed = answer();
			claimed.requireUncommitted();
			Object result;
			try (IdempotencyContextHolder.Binding binding = claimed.enter()) {
				result = runWithin(this.call);
			}
			catch (Throwable thrown) {
				threw(thrown);
				throw thrown;
			}
			returned(result, false);
			return result;
		}

		@Override
		public @Nullable SurroundingTransaction surrounding(@Nullable SurroundingTransaction current) {
			return this.call.operation().place().surrounding().apply(current);
		}

		@Override
		public boolean isAsync() {
			return !this.again && this.call.operation().result().async();
		}

		@Override
		public void acquired(OwnedClaim claim) {
			RecordingRequest guarded = RecordingRequest.find(this.request);
			if (guarded == null) {
				throw Exchange.missing(this.request, "guard the call");
			}
			this.answer = this.exchange.claimed(guarded, claim, this.engine);
		}

		/**
		 * Runs the handler. If the container rejected the request meanwhile, the client
		 * receives that rejection. The handler may have processed an incomplete request,
		 * so its work must fail and not commit.
		 */
		@Override
		public @Nullable Object run() throws Throwable {
			Object value = this.call.run();
			// An unguarded call does not have a claimed response.
			if (this.answer != null && this.answer.response().isErrorOfContainer()) {
				throw new HandledResponse.ReplaySignal();
			}
			return value;
		}

		@Override
		public @Nullable Object recover() throws Throwable {
			return this.call.recover();
		}

		@Override
		public boolean isDuplicate(Throwable failure) {
			return this.call.isDuplicate(failure);
		}

		@Override
		public @Nullable Object replay(StoredResult result) {
			this.exchange.replayed(StoredResponseCodec.decode(result), this.request, this.call.operation().name());
			return null;
		}

		@Override
		public Object replayRecovered(Object value) {
			this.exchange.recovered();
			return value;
		}

		@Override
		public boolean deferred(CompletionStage<?> stage) {
			answer().progress().reach(Stage.RETURNED);
			watch(stage, answer());
			return true;
		}

		@Override
		public CallOutcome returned(@Nullable Object value, boolean recovered) {
			ClaimedResponse claimed = answer();
			claimed.progress().reach(recovered ? Stage.RECOVERED : Stage.RETURNED);
			if (!isAsync()) {
				watch(value, claimed);
			}
			ended(null, Work.RETURNED);
			if (!HandlerResult.goesOn(HandlerResult.content(value)) && (isAsync() || !this.request.isAsyncStarted())) {
				claimed.progress().read();
			}
			return claimed.ending();
		}

		/**
		 * Leaves the transaction open until the response is rendered, unless its end is
		 * needed before. If the handler started asynchronous processing itself, another
		 * thread may write its response.
		 */
		@Override
		public boolean takes(TransactionHandle work) {
			return !this.goesOn && !this.request.isAsyncStarted() && this.exchange.isMadeInside()
					&& answer().holds(work);
		}

		private void watch(@Nullable Object value, ClaimedResponse claimed) {
			Object content = HandlerResult.content(value);
			this.goesOn = HandlerResult.goesOn(content);
			if (content instanceof ResponseBodyEmitter || HandlerResult.isStream(value)) {
				claimed.stream();
				return;
			}
			if (isAsync()) {
				// The engine reports the end: Spring may cancel the caller's future.
				claimed.work().begins();
			}
			else if (content instanceof CompletionStage<?> stage) {
				claimed.work().watch(stage);
			}
			if (HandlerResult.isTask(content)) {
				claimed.work().watchTask();
				claimed.work().observe(this.request);
			}
			if (content != null && !(content instanceof StreamingResponseBody)) {
				// An asynchronous result may turn out to be a stream only when it is
				// written.
				claimed.response().streamIf(() -> this.request.getAttribute(STREAMING) != null);
			}
		}

		@Override
		public CallOutcome threw(Throwable failure) {
			answer().progress().reach(this.call.isRejectedBefore(failure) ? Stage.NOT_RUN : Stage.CALLED);
			answer().failed(failure);
			CallOutcome ending = answer().endAnew();
			ended(failure, Work.FAILED);
			return ending;
		}

		@Override
		public CallOutcome threwAfterCommit(Throwable failure) {
			answer().progress().reach(Stage.COMMITTED);
			answer().failed(failure);
			ended(failure, Work.FAILED);
			return answer().ending();
		}

		/** Lets the response of the client determine the outcome. */
		@Override
		public CallOutcome gaveUp(Throwable failure) {
			ended(failure, Work.LOST);
			return answer().ending();
		}

		/** Records the end of a future. */
		private void ended(@Nullable Throwable failure, Work how) {
			if (isAsync() && this.goesOn) {
				answer().work().ended(failure, how);
			}
		}

		private ClaimedResponse answer() {
			if (this.answer == null) {
				throw new IllegalStateException("No claim exists");
			}
			return this.answer;
		}

	}

}
