package io.idempotency.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Supplier;

import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.aop.IdempotentOperation.FingerprintSource;
import io.idempotency.codec.json.FirstResultCheck;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.protocol.ResultCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * The door of every method that is not the handler of the current request: services,
 * listeners, jobs. Results are values. Thread-safe.
 * <p>
 * A key that an expression gives is a business key: no caller is part of it unless the
 * annotation has a scope, so a request and a job share the key. A token, and a key from a
 * header or a body, belong to the current caller. Unless the annotation has a
 * fingerprint, nothing is compared for a business key, and the arguments are for a key
 * from a header or a body: a client chose it for one attempt.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class MethodDoor implements OperationDoor {

	private final IdempotencyEngine engine;

	private final FirstResultCheck results;

	private final OperationKeys keys;

	private final OperationFingerprints fingerprints;

	private final Supplier<RequestValues> values;

	private final Supplier<Caller> caller;

	/**
	 * Creates the door.
	 * @param engine the engine
	 * @param codec encodes results
	 * @param keys reads keys
	 * @param values supplies the values of the request or message that the current thread
	 * works for, {@link RequestValues#NONE} if there is none
	 * @param caller supplies the current caller, who owns tokens and the keys that
	 * clients choose
	 */
	public MethodDoor(IdempotencyEngine engine, ResultCodec codec, OperationKeys keys, Supplier<RequestValues> values,
			Supplier<Caller> caller) {
		this.engine = engine;
		this.results = new FirstResultCheck(codec);
		this.keys = keys;
		this.fingerprints = new OperationFingerprints(codec);
		this.values = values;
		this.caller = caller;
	}

	@Override
	public boolean covers(Method method, Class<?> targetClass) {
		return false;
	}

	@Override
	public boolean opens(OperationCall call) {
		return true;
	}

	@Override
	public @Nullable Object enter(OperationCall call) throws Throwable {
		return enter(call, this.values.get(), () -> defaultCaller(call.operation()));
	}

	/**
	 * Guards a call whose values do not come from the current request.
	 * @param call the call
	 * @param values the values that expressions and the source of the key read
	 * @param caller whose key it is if the annotation has no scope; is asked only if
	 * there is a key
	 * @return the result for the caller
	 * @throws Throwable the exception for the caller
	 */
	public @Nullable Object enter(OperationCall call, RequestValues values, Supplier<Caller> caller) throws Throwable {
		return enter(call, values, caller, () -> this.keys.parts(call, values), () -> arguments(call, values));
	}

	/**
	 * Guards a call whose key and request another door reads.
	 * @param call the call
	 * @param values the values that expressions read
	 * @param caller whose key it is if the annotation has no scope; is asked only if
	 * there is a key
	 * @param parts the parts of the key, empty if it is missing
	 * @param request the fingerprint of what the client has sent; is asked only if that
	 * is what is compared
	 * @return the result for the caller
	 * @throws Throwable the exception for the caller
	 */
	public @Nullable Object enter(OperationCall call, RequestValues values, Supplier<Caller> caller,
			Supplier<List<String>> parts, Supplier<Fingerprint> request) throws Throwable {
		if (!call.isGuarded(values)) {
			return call.runUnguarded();
		}
		List<String> found = parts.get();
		if (found.isEmpty()) {
			return enterWithoutKey(call);
		}
		IdempotentOperation operation = call.operation();
		IdempotencyKey key = call.key(found, caller.get(), values);
		GuardedCall guarded = new GuardedCall(key, fingerprint(call, values, request), operation.policy(),
				operation.place().store());
		MethodAction action = new MethodAction(call, this.results.of(operation.name()));
		return action.answer(this.engine.execute(guarded, action, operation.place().transactions()));
	}

	/**
	 * Returns the caller of a key. A business key is the same for all callers. But two
	 * clients may choose the same key for a header or a body, so such a key belongs to
	 * its caller. If the annotation has a scope, the scope replaces the caller, so the
	 * caller need not be known.
	 */
	private Caller defaultCaller(IdempotentOperation operation) {
		return (operation.key().scope() == null && operation.key().isOfClient()) ? this.caller.get() : Caller.GLOBAL;
	}

	private @Nullable Object enterWithoutKey(OperationCall call) throws Throwable {
		if (!call.operation().key().required()) {
			return call.runUnguarded();
		}
		String name = call.operation().name();
		throw new IdempotencyKeyMissingException(name,
				"The call of '" + name + "' has no key: give it one, or allow calls without by required = false");
	}

	private Fingerprint fingerprint(OperationCall call, RequestValues values, Supplier<Fingerprint> request) {
		IdempotentOperation operation = call.operation();
		if (operation.fingerprint() instanceof FingerprintSource.Spel source) {
			return this.fingerprints.of(call, source, values);
		}
		if (operation.fingerprint() instanceof FingerprintSource.Arguments source) {
			return this.fingerprints.of(call, source.arguments(), values);
		}
		boolean compared = operation.fingerprint() instanceof FingerprintSource.Default
				&& !(operation.key().source() instanceof KeySource.Spel)
				&& operation.policy().mode() == IdempotencyMode.REPLAY;
		return compared ? request.get() : Fingerprint.NONE;
	}

	/**
	 * Makes the fingerprint of a handler that is called by code and not by its request,
	 * so that it has no request of its own.
	 */
	private Fingerprint arguments(OperationCall call, RequestValues values) {
		IdempotentOperation operation = call.operation();
		return this.fingerprints.of(call,
				ComparedArguments.of(operation.guarded().method(), operation.guarded().targetClass()), values);
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

}
