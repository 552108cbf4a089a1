package io.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;

import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.IdempotentOperation.FingerprintSource;
import io.idempotency.aop.OperationCall;
import io.idempotency.aop.OperationDoor;
import io.idempotency.aop.OperationFingerprinter;
import io.idempotency.aop.OperationKeyReader;
import io.idempotency.aop.RequestValues;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.TransactionStarter;
import io.idempotency.http.HandlerRules;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.request.FormData;
import io.idempotency.http.request.RequestFingerprint;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.protocol.DeferredResults;
import io.idempotency.protocol.GuardedCall;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.util.UriUtils;

/**
 * The door of the method that handles the current request. The result of a call is the
 * answer that the client sees, and it is kept as bytes. Thread-safe.
 * <p>
 * A request enters the door after binding, validation and method security, so a request
 * that they refuse uses no key. Calls that the handler makes are part of its own call.
 * Only a call of another guarded method is an operation of its own, through the method
 * door.
 *
 * @hidden
 */
@Internal
public final class HttpDoor implements OperationDoor {

	private final IdempotencyEngine engine;

	private final OperationKeyReader keys;

	private final OperationFingerprinter fingerprints;

	private final RequestFingerprint requestFingerprint;

	private final HttpCallerResolver callers;

	/**
	 * Creates the door.
	 * @param fingerprints makes the fingerprints of expressions
	 * @param callers determines the callers, who own the keys
	 */
	public HttpDoor(IdempotencyEngine engine, OperationKeyReader keys, OperationFingerprinter fingerprints,
			HttpCallerResolver callers, HttpSettings settings) {
		this.engine = engine;
		this.keys = keys;
		this.fingerprints = fingerprints;
		this.requestFingerprint = new RequestFingerprint(settings);
		this.callers = callers;
	}

	@Override
	public boolean covers(Method method, Class<?> targetClass) {
		return HandlerRules.isHandler(method, targetClass);
	}

	@Override
	public boolean isExemptFromClass(Method method, Class<?> targetClass) {
		return HandlerRules.isExemptFromClass(method);
	}

	/**
	 * {@inheritDoc} Nobody here looks into a look-up that comes later, unless it is a
	 * future, so it would count as found before it has begun.
	 */
	@Override
	public void check(IdempotentOperation operation) {
		Method recover = operation.result().recover();
		if (recover == null || !covers(operation.guarded().method(), operation.guarded().targetClass())) {
			return;
		}
		Class<?> given = ResolvableType.forMethodReturnType(recover, operation.guarded().targetClass()).toClass();
		if (DeferredResults.isSuspend(recover)
				|| DeferredResults.include(given) && !CompletionStage.class.isAssignableFrom(given)) {
			throw operation.problem("its recover method '" + recover.getName()
					+ "' gives a result that is not there yet when it returns, and a handler of Spring MVC is answered "
					+ "before anybody knows whether there is one",
					"Let both return the value itself or a CompletableFuture of it, or use Spring WebFlux");
		}
	}

	@Override
	public boolean opens(OperationCall call) {
		HttpServletRequest request = HttpRequestValues.currentRequest();
		return request != null && isHandler(request, call.operation());
	}

	private static boolean isHandler(HttpServletRequest request, IdempotentOperation operation) {
		if (!(request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerMethod handler)
				|| !HandlerRules.isOf(handler, operation.guarded().targetClass())) {
			return false;
		}
		Method method = handler.getMethod();
		return method.equals(operation.guarded().method())
				|| AopUtils.getMostSpecificMethod(method, operation.guarded().targetClass())
					.equals(operation.guarded().method());
	}

	@Override
	public @Nullable Object enter(OperationCall call) throws Throwable {
		HttpServletRequest request = HttpRequestValues.currentRequest();
		if (request == null) {
			throw new IllegalStateException("The door opens only for the handler of a request");
		}
		return enter(call, request, request);
	}

	/**
	 * Guards the call of a route.
	 * @param routed the request of the route: a filter outside of the guard may say by it
	 * who the caller is
	 */
	@Nullable Object enter(OperationCall call, ServerRequest routed) throws Throwable {
		HttpServletRequest current = HttpRequestValues.currentRequest();
		HttpServletRequest request = (current != null) ? current : routed.servletRequest();
		return enter(call, request, new HttpServletRequestWrapper(request) {

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

	private @Nullable Object enter(OperationCall call, HttpServletRequest request, HttpServletRequest identified)
			throws Throwable {
		Exchange exchange = Exchange.find(request);
		ClaimedAnswer earlier = (exchange != null) ? exchange.claimed() : null;
		if (earlier != null && !earlier.endsIfGone(call.operation().name())) {
			return runWithin(earlier, call);
		}
		if (exchange != null && exchange.isReplayed()) {
			// Code around the handler calls it again, as if the replay were a failure.
			throw new Answer.ReplaySignal();
		}
		IdempotentOperation operation = call.operation();
		HttpRequestValues values = new HttpRequestValues(request);
		if (HandlerRules.isExempt(operation, request.getMethod()) || !call.isGuarded(values)) {
			return call.runUnguarded();
		}
		List<String> parts = this.keys.parts(call, values);
		if (parts.isEmpty()) {
			if (!operation.key().required()) {
				return call.runUnguarded();
			}
			throw HandlerRules.keyMissing(operation);
		}
		if (FormData.isLossy(parts) && isLossy(request)) {
			throw new IdempotencyKeyInvalidException(operation.name(),
					"The key has bytes that are no text in the charset of the request: send it in UTF-8");
		}
		if (exchange == null) {
			throw Exchange.missing(request, "guard a call of '" + operation.name() + "'");
		}
		GuardedCall guarded = new GuardedCall(key(call, parts, exchange, identified, values),
				fingerprint(call, request, values), operation.policy(), operation.place().store());
		if (exchange.isRefused()) {
			throw new Answer.ReplaySignal();
		}
		return this.engine.execute(guarded, new HttpCall(call, request, exchange, this.engine),
				operation.place().ofThreads());
	}

	/**
	 * Runs a handler that is called again, by itself, by advice or by a forward. The call
	 * is part of the guarded call. It is never in less of a transaction than the first.
	 */
	private static @Nullable Object runWithin(ClaimedAnswer earlier, OperationCall call) throws Throwable {
		String operation = call.operation().name();
		if (earlier.isCommitted(operation)) {
			throw new IllegalStateException("The handler '" + operation
					+ "' is called once more in one request, but the "
					+ "transaction of its first call has committed. Let the advice that calls it again come inside of the "
					+ "guard, by an order above idempotency.advisor-order");
		}
		TransactionStarter transactions = call.operation().place().ofThreads();
		if (transactions == null) {
			return call.run();
		}
		TransactionStarter.Begun transaction = transactions.begin((outcome) -> {
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

	/**
	 * Returns whether bytes of the path or of a parameter were replaced when they were
	 * decoded. Two keys that differ in such bytes only would be one.
	 */
	private static boolean isLossy(HttpServletRequest request) {
		return FormData.isLossy(UriUtils.decode(request.getRequestURI(), StandardCharsets.UTF_8))
				|| request.getParameterMap()
					.values()
					.stream()
					.flatMap(Arrays::stream)
					.anyMatch((value) -> value != null && FormData.isLossy(value));
	}

	private IdempotencyKey key(OperationCall call, List<String> parts, Exchange exchange, HttpServletRequest request,
			RequestValues values) {
		IdempotentOperation operation = call.operation();
		// If the annotation gives the scope, the caller needs no name.
		Caller caller = (operation.key().scope() != null) ? Caller.GLOBAL
				: this.callers.owner(request, operation.name());
		IdempotencyKey made = exchange.key(operation, caller, parts);
		return (made != null) ? made : call.key(parts, caller, values);
	}

	private Fingerprint fingerprint(OperationCall call, HttpServletRequest request, HttpRequestValues values)
			throws IOException {
		IdempotentOperation operation = call.operation();
		if (RecordingRequest.find(request) == null) {
			throw Exchange.missing(request, "compare a request of '" + operation.name() + "'");
		}
		boolean compared = operation.policy().mode() == IdempotencyMode.REPLAY;
		if (compared && operation.fingerprint() instanceof FingerprintSource.Default) {
			return this.requestFingerprint.of(values, operation.key().source());
		}
		if (compared && operation.fingerprint() instanceof FingerprintSource.Spel source) {
			return this.fingerprints.of(call, source, values);
		}
		return Fingerprint.NONE;
	}

}
