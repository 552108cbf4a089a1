package io.idempotency;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The same engine as {@link Idempotent} for code without an annotation.
 *
 * <pre class="code">
 * Payment payment = idempotency.operation("payment.create")
 *     .key(order.id(), order.version())
 *     .fingerprint(order.amount())
 *     .execute(Payment.class, () -&gt; gateway.pay(order));
 * </pre>
 *
 * Thread-safe. A duplicate gets the first result, decoded anew; problems are thrown as
 * {@link IdempotencyException}.
 *
 * @since 0.1.0
 */
public interface IdempotencyTemplate {

	/**
	 * Starts the description of one guarded call with the defaults of
	 * {@code idempotency.*}.
	 * @param operation name of the operation; part of the key, so two operations never
	 * meet
	 * @return the call, to be given a key
	 */
	Call operation(String operation);

	/**
	 * One guarded call; not thread-safe, for one use.
	 */
	interface Call {

		/**
		 * Sets the key; every part takes part in it, unambiguously.
		 * @param parts text, numbers, booleans, enums, UUIDs or {@code java.time} values;
		 * none of them {@code null} or empty
		 * @return this call
		 */
		Call key(Object... parts);

		/**
		 * Sets whose key it is. Default: nobody's in particular.
		 * @param scope the scope, e.g. a tenant
		 * @return this call
		 */
		Call scope(String scope);

		/**
		 * Sets what must be equal on a retry. Default: nothing is compared.
		 * @param parts values as for {@link #key(Object...)}, {@code null} allowed
		 * @return this call
		 */
		Call fingerprint(@Nullable Object... parts);

		/**
		 * Sets what a duplicate gets. Default: {@link IdempotencyMode#REPLAY}.
		 * @param mode the mode
		 * @return this call
		 */
		Call mode(IdempotencyMode mode);

		/**
		 * Sets what a duplicate gets while the first call runs.
		 * @param conflict the mode
		 * @return this call
		 */
		Call conflict(ConflictMode conflict);

		/**
		 * Sets the upper bound of {@link ConflictMode#WAIT}.
		 * @param waitTimeout the bound, positive
		 * @return this call
		 */
		Call waitTimeout(Duration waitTimeout);

		/**
		 * Sets what becomes of the key when the action throws.
		 * @param onFailure the mode
		 * @return this call
		 */
		Call onFailure(FailureMode onFailure);

		/**
		 * Sets what a later call does when the owner died while running.
		 * @param onAbandoned the mode
		 * @return this call
		 */
		Call onAbandoned(AbandonedMode onAbandoned);

		/**
		 * Sets how long the result is kept.
		 * @param retention the retention, positive
		 * @return this call
		 */
		Call retention(Duration retention);

		/**
		 * Sets how long the claim lives without renewal.
		 * @param lease the lease, positive
		 * @return this call
		 */
		Call lease(Duration lease);

		/**
		 * Runs the action once for this key and gives its result, or the first result.
		 * @param <T> the result
		 * @param type what to decode a stored result as
		 * @param action what to run; its exceptions come out unchanged
		 * @return the result, {@code null} if that is what the action gave
		 * @throws IdempotencyException if the call was refused
		 */
		<T> @Nullable T execute(Class<T> type, Supplier<? extends @Nullable T> action);

		/**
		 * As {@link #execute(Class, Supplier)} for an action that may throw and a result
		 * of any type, generic ones included.
		 * @param <T> the result
		 * @param type what to decode a stored result as
		 * @param action what to run; its exceptions come out unchanged
		 * @return the result, {@code null} if that is what the action gave
		 * @throws IdempotencyException if the call was refused
		 * @throws Exception whatever the action threw
		 */
		<T> @Nullable T call(Type type, Callable<? extends @Nullable T> action) throws Exception;

		/**
		 * As {@link #execute(Class, Supplier)} for an action without a result.
		 * @param action what to run; its exceptions come out unchanged
		 * @throws IdempotencyException if the call was refused
		 */
		void run(Runnable action);

	}

}
