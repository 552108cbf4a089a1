package io.idempotency.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;

import io.idempotency.Internal;
import io.idempotency.engine.BusinessTransactions;
import io.idempotency.engine.IdempotencyPolicy;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * The annotation of one method of one class, merged, parsed and checked once.
 *
 * @param method the most specific method
 * @param targetClass the class of the bean, never a proxy's
 * @param declaredOnMethod whether the annotation is the method's own and not its class's
 * @param policy what the operation wants
 * @param keySource where the key comes from
 * @param required whether a call without a key is refused
 * @param token whether the key must be an issued token
 * @param scope whose key it is, {@code null} for the default
 * @param fingerprint what must be equal on a retry
 * @param condition when it gives {@code false} the call runs unguarded; {@code null}:
 * always guarded
 * @param duplicateOn exceptions that mean "already done"
 * @param recover looks the result up, {@code null} if nothing does
 * @param transactions where the record commits together with the work, {@code null} for
 * the store's own transaction
 * @param resultType declared type of the result; of an asynchronous one, the type inside
 * it
 * @param async whether the method returns a {@link java.util.concurrent.CompletionStage}
 * @param apart whether the work commits by itself, whatever becomes of the transaction in
 * which the method is called
 * @param store where records are kept
 * @hidden
 * @since 0.1.0
 */
@Internal
public record IdempotentOperation(Method method, Class<?> targetClass, boolean declaredOnMethod,
		IdempotencyPolicy policy, KeySource keySource, boolean required, boolean token,
		@Nullable OperationExpression scope, FingerprintSource fingerprint, @Nullable OperationExpression condition,
		List<Class<? extends Throwable>> duplicateOn, @Nullable Method recover,
		@Nullable BusinessTransactions transactions, Type resultType, boolean async, boolean apart,
		IdempotencyStore store) {

	/**
	 * Name of the operation.
	 * @return the name
	 */
	public String name() {
		return this.policy.operation();
	}

	/**
	 * What must be equal on a retry.
	 *
	 * @hidden
	 * @since 0.1.0
	 */
	public sealed interface FingerprintSource {

		/**
		 * What the door compares by itself: the request, outside HTTP nothing.
		 *
		 * @hidden
		 */
		record Default() implements FingerprintSource {
		}

		/**
		 * Nothing is compared.
		 *
		 * @hidden
		 */
		record None() implements FingerprintSource {
		}

		/**
		 * An expression over the arguments.
		 *
		 * @param expression the parsed expression
		 * @hidden
		 */
		record Spel(OperationExpression expression) implements FingerprintSource {
		}

	}

	/**
	 * Begins the operation of a method.
	 * @param annotation the annotation of the method
	 * @param result what the method gives
	 * @param policy what the operation wants
	 * @param keySource where the key comes from
	 * @param store where records are kept
	 * @return an operation that demands a key, compares what the door compares, and joins
	 * no transaction
	 */
	static Builder of(IdempotentAnnotation annotation, ResultShape result, IdempotencyPolicy policy,
			KeySource keySource, IdempotencyStore store) {
		return new Builder(annotation, result, policy, keySource, store);
	}

	/** Sets what a method wants beyond the defaults. For one thread. */
	static final class Builder {

		private final IdempotentAnnotation annotation;

		private final ResultShape result;

		private final IdempotencyPolicy policy;

		private final KeySource keySource;

		private final IdempotencyStore store;

		private boolean required = true;

		private boolean token;

		private @Nullable OperationExpression scope;

		private FingerprintSource fingerprint = new FingerprintSource.Default();

		private @Nullable OperationExpression condition;

		private List<Class<? extends Throwable>> duplicateOn = List.of();

		private @Nullable Method recover;

		private @Nullable BusinessTransactions transactions;

		private boolean apart;

		private Builder(IdempotentAnnotation annotation, ResultShape result, IdempotencyPolicy policy,
				KeySource keySource, IdempotencyStore store) {
			this.annotation = annotation;
			this.result = result;
			this.policy = policy;
			this.keySource = keySource;
			this.store = store;
		}

		Builder required(boolean value) {
			this.required = value;
			return this;
		}

		Builder token(boolean value) {
			this.token = value;
			return this;
		}

		Builder scope(@Nullable OperationExpression value) {
			this.scope = value;
			return this;
		}

		Builder fingerprint(FingerprintSource value) {
			this.fingerprint = value;
			return this;
		}

		Builder condition(@Nullable OperationExpression value) {
			this.condition = value;
			return this;
		}

		Builder duplicateOn(List<Class<? extends Throwable>> value) {
			this.duplicateOn = value;
			return this;
		}

		Builder recover(@Nullable Method value) {
			this.recover = value;
			return this;
		}

		Builder transactions(@Nullable BusinessTransactions value) {
			this.transactions = value;
			return this;
		}

		Builder apart(boolean value) {
			this.apart = value;
			return this;
		}

		IdempotentOperation build() {
			return new IdempotentOperation(this.annotation.method(), this.annotation.targetClass(),
					this.annotation.declaredOnMethod(), this.policy, this.keySource, this.required, this.token,
					this.scope, this.fingerprint, this.condition, this.duplicateOn, this.recover, this.transactions,
					this.result.type(), this.result.async(), this.apart, this.store);
		}

	}

}
