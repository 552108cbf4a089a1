package io.idempotency.interceptor;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.json.ResultRoundTripCheck;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.GuardedCall;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.ValueAction;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.interceptor.ProblemProperties.FailureStatus;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace.KeyParts;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * Guards every method that no other adapter guards: methods of services and jobs. Results
 * are values. Thread-safe.
 * <p>
 * The result of a key expression is a business key. It does not contain the caller unless
 * the annotation has a scope, so a request and a job share the key. A token, and a key
 * from a header or a body, belong to the current caller.
 * <p>
 * Without a fingerprint in the annotation, nothing is compared for a business key. For a
 * key from a header or a body, the arguments are compared, because a client chose the key
 * for one attempt.
 *
 * @hidden
 */
@Internal
public final class MethodAdapter implements InvocationAdapter {

	private final IdempotencyEngine engine;

	private final ResultRoundTripCheck resultCheck;

	private final OperationKeyReader keyReader;

	private final OperationFingerprinter fingerprinter;

	private final Supplier<RequestValues> values;

	private final Function<String, Caller> owner;

	/**
	 * Creates the adapter.
	 * @param codec encodes results
	 * @param values supplies the values of the current request or message,
	 * {@link RequestValues#NONE} without a request
	 * @param owner returns the current caller, to which tokens and client-chosen keys of
	 * the operation with this name belong, or rejects an unknown caller
	 */
	public MethodAdapter(IdempotencyEngine engine, ResultCodec codec, OperationKeyReader keyReader,
			Supplier<RequestValues> values, Function<String, Caller> owner) {
		this.engine = engine;
		this.resultCheck = new ResultRoundTripCheck(codec);
		this.keyReader = keyReader;
		this.fingerprinter = new OperationFingerprinter(codec);
		this.values = values;
		this.owner = owner;
	}

	@Override
	public boolean supports(OperationCall call) {
		return true;
	}

	@Override
	public @Nullable Object invoke(OperationCall call) throws Throwable {
		return invoke(call, this.values.get(), () -> owner(call.operation(), this.owner));
	}

	/**
	 * Guards a call whose values do not come from the current request.
	 * @param values the values for expressions and for the source of the key
	 * @param caller supplies the owner of the key if the annotation has no scope; called
	 * only if there is a key
	 * @return the result for the caller
	 * @throws Throwable the exception for the caller
	 */
	public @Nullable Object invoke(OperationCall call, RequestValues values, Supplier<Caller> caller) throws Throwable {
		return invoke(call, values, caller, () -> this.keyReader.parts(call, values), () -> arguments(call, values));
	}

	/**
	 * Guards a call whose key and request another adapter reads.
	 * @param values the values for expressions
	 * @param caller supplies the owner of the key if the annotation has no scope; called
	 * only if there is a key
	 * @param parts the parts of the key, empty if it is missing
	 * @param request supplies the fingerprint of the client's request; called only if the
	 * request is compared
	 * @return the result for the caller
	 * @throws Throwable the exception for the caller
	 */
	public @Nullable Object invoke(OperationCall call, RequestValues values, Supplier<Caller> caller,
			Supplier<List<String>> parts, Supplier<Fingerprint> request) throws Throwable {
		GuardedCall guarded = guarded(call, values, caller, parts, request);
		if (guarded == null) {
			return call.runUnguarded();
		}
		MethodAction action = action(call, call.operation().result().async());
		try {
			return action.answer(this.engine.execute(guarded, action, call.operation().place().ofThreads()));
		}
		catch (IdempotencyException rejection) {
			if (call.skips(rejection)) {
				return null;
			}
			throw rejection;
		}
	}

	/**
	 * Reads the key and the compared values of a call that another engine guards.
	 * @param values the values for expressions and for the source of the key
	 * @param owner returns the owner of the key if the annotation has no scope and a
	 * client chose the key; receives the name of the operation
	 * @return the description for the engine, {@code null} if the call runs unguarded
	 */
	public @Nullable GuardedCall guarded(OperationCall call, RequestValues values, Function<String, Caller> owner) {
		return guarded(call, values, () -> owner(call.operation(), owner), () -> this.keyReader.parts(call, values),
				() -> arguments(call, values));
	}

	private @Nullable GuardedCall guarded(OperationCall call, RequestValues values, Supplier<Caller> caller,
			Supplier<List<String>> parts, Supplier<Fingerprint> request) {
		if (!call.isGuarded(values)) {
			return null;
		}
		IdempotentOperation operation = call.operation();
		List<String> found = parts.get();
		if (!found.isEmpty()) {
			IdempotencyKey key = call.key(found, caller.get(), values);
			return new GuardedCall(key, fingerprint(call, values, request), operation.options(),
					operation.place().store());
		}
		if (operation.key().required()) {
			throw operation.keyMissing();
		}
		return null;
	}

	private MethodAction action(OperationCall call, boolean async) {
		return new MethodAction(call, this.resultCheck.of(call.operation().name()), async);
	}

	/**
	 * Returns the action that stores and replays the values of a call of another engine.
	 * @return the action, which is not run
	 */
	public ValueAction<Object> values(OperationCall call) {
		return action(call, false);
	}

	/**
	 * Returns the owner of a key. A business key is the same for all callers. Two clients
	 * may choose the same key for a header or a body, so such a key belongs to its
	 * caller. If the annotation has a scope, the scope replaces the caller, so the caller
	 * may be unknown.
	 */
	private static Caller owner(IdempotentOperation operation, Function<String, Caller> owner) {
		return operation.key().isOfCaller() ? owner.apply(operation.name()) : Caller.GLOBAL;
	}

	private Fingerprint fingerprint(OperationCall call, RequestValues values, Supplier<Fingerprint> request) {
		IdempotentOperation operation = call.operation();
		if (operation.fingerprint() instanceof FingerprintSource.Spel source) {
			return this.fingerprinter.of(call, source, values);
		}
		if (operation.fingerprint() instanceof FingerprintSource.Arguments source) {
			return this.fingerprinter.of(call, source.arguments(), values);
		}
		boolean compared = operation.fingerprint() instanceof FingerprintSource.Default
				&& !(operation.key().source() instanceof KeySource.Spel)
				&& operation.options().mode() == IdempotencyMode.REPLAY;
		return compared ? request.get() : Fingerprint.NONE;
	}

	/**
	 * Creates the fingerprint of a handler that is called by code instead of a request.
	 */
	private Fingerprint arguments(OperationCall call, RequestValues values) {
		IdempotentOperation operation = call.operation();
		return this.fingerprinter.of(call,
				ArgumentFingerprinter.of(operation.guarded().method(), operation.guarded().targetClass()), values);
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	/** Translates one call of a method for the engine. */
	private static final class MethodAction extends ValueAction<Object> {

		private final OperationCall call;

		MethodAction(OperationCall call, ResultCodec codec, boolean async) {
			super(codec, call.operation().result().type(), async);
			this.call = call;
		}

		@Override
		public @Nullable Object run() throws Throwable {
			return this.call.run();
		}

		@Override
		public CallOutcome returned(@Nullable Object value, boolean recovered) {
			CallOutcome ending = super.returned(value, recovered);
			return recovered ? ending : this.call.returned(ending);
		}

		@Override
		public boolean isDuplicate(Throwable failure) {
			return this.call.isDuplicate(failure);
		}

		@Override
		protected boolean isRejectedBefore(Throwable failure) {
			return this.call.isRejectedBefore(failure);
		}

		@Override
		protected int statusOf(Throwable failure) {
			return FailureStatus.of(failure);
		}

		@Override
		protected @Nullable String told(Throwable failure) {
			return this.call.told(failure);
		}

		@Override
		public @Nullable SurroundingTransaction surrounding(@Nullable SurroundingTransaction current) {
			return this.call.operation().place().surrounding().apply(current);
		}

		@Override
		protected @Nullable Object lookUp() throws Throwable {
			return this.call.recover();
		}

		/**
		 * Returns the result for the caller. If the method has no return value, a value
		 * that the recovery found only means "done", so the caller receives a future of
		 * {@code null}.
		 */
		@Nullable Object answer(@Nullable Object result) {
			IdempotentOperation operation = this.call.operation();
			if (operation.result().recover() == null || operation.result().type() != Void.class
					|| !(result instanceof CompletionStage<?> stage)) {
				return result;
			}
			CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
			stage.whenComplete((value, failure) -> {
				if (failure != null) {
					answer.completeExceptionally(failure);
				}
				else {
					answer.complete(null);
				}
			});
			return answer;
		}

	}

	/**
	 * Creates the fingerprint of the value of an expression, by the same rules for every
	 * adapter. Thread-safe.
	 * <p>
	 * A value that could be one part of a key is compared by its text, so {@code 5} and
	 * {@code "5"} are equal. Any other value, including lists, is compared by its encoded
	 * form. Numbers are compared by value.
	 *
	 * @hidden
	 */
	public static final class OperationFingerprinter {

		private static final String ALGORITHM = "spel1";

		private final ResultCodec codec;

		/**
		 * Creates the fingerprinter.
		 * @param codec encodes values that have no text form
		 */
		public OperationFingerprinter(ResultCodec codec) {
			this.codec = codec;
		}

		/**
		 * Creates the fingerprint of one call.
		 * @param source the expression
		 * @throws IllegalStateException if the expression fails or returns a value that
		 * cannot be encoded
		 */
		public Fingerprint of(OperationCall call, IdempotentOperation.FingerprintSource.Spel source,
				RequestValues values) {
			Object value = unwrap(call.fingerprint(source, values));
			Fingerprint.Builder fingerprint = Fingerprint.of(ALGORITHM);
			if (value == null || KeyParts.isText(value) && !(value instanceof BigDecimal)) {
				return fingerprint.add(KeyParts.text(value)).build();
			}
			try {
				return fingerprint.add(this.codec.comparable(value)).build();
			}
			catch (RuntimeException ex) {
				// After any exception of the codec, the value cannot be compared.
				throw source.expression().failure(ex);
			}
		}

		/**
		 * Creates the fingerprint of the arguments of one call.
		 * @param arguments the compared arguments
		 * @throws IllegalStateException if an argument cannot be encoded
		 */
		public Fingerprint of(OperationCall call, ArgumentFingerprinter arguments, RequestValues values) {
			return arguments.fingerprint(call.arguments(), values, this.codec);
		}

		private static @Nullable Object unwrap(@Nullable Object value) {
			return (value instanceof Optional<?> optional) ? optional.orElse(null) : value;
		}

	}

}
