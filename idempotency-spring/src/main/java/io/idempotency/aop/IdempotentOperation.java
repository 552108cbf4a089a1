package io.idempotency.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.function.UnaryOperator;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.engine.BusinessTransactions;
import io.idempotency.engine.SurroundingTransaction;
import io.idempotency.protocol.IdempotencyPolicy;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * The annotation of one method of one class, merged, parsed and checked once.
 *
 * @param method the most specific method
 * @param targetClass the class of the bean, never the class of a proxy
 * @param declaredOnMethod whether the annotation is on the method and not on its class
 * @param policy the policy of the operation
 * @param keySource the source of the key
 * @param required whether a call without a key is refused
 * @param token whether the key must be an issued token
 * @param scope whose key it is, {@code null} for the default
 * @param fingerprint what must be equal on a retry
 * @param condition the call runs unguarded when this gives {@code false}; {@code null} if
 * the call is always guarded
 * @param duplicateOn exceptions that mean "already done"
 * @param recover the method that looks the result up, {@code null} if there is none
 * @param transactions the transactions in which the record commits together with the
 * work, {@code null} for the store's own transaction
 * @param resultType the declared type of the result; for an asynchronous result, the type
 * inside it
 * @param async whether the method returns a {@link java.util.concurrent.CompletionStage}
 * @param surrounding tells the open transaction that the work of a call is a part of,
 * from the innermost one that the calling thread is in; it tells {@code null} if the work
 * commits by itself
 * @param store the store of the records
 * @hidden
 * @since 0.1.0
 */
@Internal
public record IdempotentOperation(Method method, Class<?> targetClass, boolean declaredOnMethod,
		IdempotencyPolicy policy, KeySource keySource, boolean required, boolean token,
		@Nullable OperationExpression scope, FingerprintSource fingerprint, @Nullable OperationExpression condition,
		List<Class<? extends Throwable>> duplicateOn, @Nullable Method recover,
		@Nullable BusinessTransactions transactions, Type resultType, boolean async,
		UnaryOperator<@Nullable SurroundingTransaction> surrounding, IdempotencyStore store) {

	/**
	 * Returns the name of the operation.
	 * @return the name
	 */
	public String name() {
		return this.policy.operation();
	}

	/**
	 * Returns whether the key, its scope, the condition or the expression of the
	 * fingerprint names a value of the body.
	 * @return whether one does
	 */
	public boolean readsBody() {
		return this.keySource instanceof KeySource.Body
				|| this.keySource instanceof KeySource.Spel spel && readsBody(spel.expression())
				|| this.fingerprint instanceof FingerprintSource.Spel spel && readsBody(spel.expression())
				|| readsBody(this.scope) || readsBody(this.condition);
	}

	private static boolean readsBody(@Nullable OperationExpression expression) {
		return expression != null && expression.calls("body");
	}

	/**
	 * Returns whether a client chooses the key, for one attempt. Such a key belongs to
	 * its caller; a business key is the same for all callers.
	 * @return whether it does
	 */
	public boolean isKeyOfClient() {
		return this.token || !(this.keySource instanceof KeySource.Spel);
	}

	/** Names the method in messages. */
	public String describe() {
		return MethodNames.describe(this.method, this.targetClass);
	}

	/**
	 * Makes the error of a door.
	 * @param problem what is wrong, in words that follow a colon
	 * @param action what to do
	 * @return the error
	 */
	public IdempotencyConfigurationException problem(String problem, String action) {
		return SetupProblem.of(this.method, this.targetClass, problem, action);
	}

	/**
	 * The source of what must be equal on a retry.
	 *
	 * @hidden
	 * @since 0.1.0
	 */
	public sealed interface FingerprintSource {

		/**
		 * The default of the door of handlers is compared: the request.
		 *
		 * @hidden
		 */
		record Default() implements FingerprintSource {
		}

		/**
		 * The arguments are compared, because a client chose the key.
		 *
		 * @param arguments which of them
		 * @hidden
		 */
		record Arguments(ComparedArguments arguments) implements FingerprintSource {
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

}
