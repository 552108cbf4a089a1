package io.idempotency;

import java.lang.reflect.Type;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Guards code programmatically, with the same engine as {@link Idempotent}.
 *
 * <pre class="code">
 * Payment payment = idempotency.operation("payment.create")
 *     .key(order.id(), order.version())
 *     .fingerprint(order.amount())
 *     .execute(Payment.class, () -&gt; gateway.pay(order));
 * </pre>
 *
 * Thread-safe. A duplicate receives the first result, which is decoded for each call. A
 * rejected call throws an {@link IdempotencyException}.
 *
 * @since 0.1.0
 */
public interface IdempotencyTemplate {

	/**
	 * Creates the description of a guarded call with the defaults of
	 * {@code idempotency.*}.
	 * @param operation name of the operation; part of the key, so two operations never
	 * share a key
	 * @return the call, which requires a key
	 */
	Call operation(String operation);

	/**
	 * The description of one guarded call. Use it once. Not thread-safe.
	 */
	interface Call extends IdempotencyOptions.Spec<Call> {

		/**
		 * Sets the key. Every part is significant: different parts never result in the
		 * same key.
		 * @param parts text, numbers, booleans, enums, UUIDs or {@code java.time} values;
		 * not {@code null} and not empty
		 * @return this call
		 */
		Call key(Object... parts);

		/**
		 * Sets a token as the key. {@link IdempotencyTokens} must have issued the token
		 * to the current caller. Do not combine it with {@link #key(Object...)},
		 * {@link #scope(String)} or {@link #store(String)}.
		 * @param token the token
		 * @return this call
		 */
		Call token(String token);

		/**
		 * Sets the scope of the key. Default: all callers share one scope.
		 * @param scope the scope, for example a tenant
		 * @return this call
		 * @throws IllegalArgumentException if the scope is {@code null} or empty, to
		 * avoid sharing keys by mistake
		 */
		Call scope(String scope);

		/**
		 * Sets the values that must be equal on a retry. Default: nothing is compared.
		 * @param parts values as for {@link #key(Object...)}, {@code null} allowed
		 * @return this call
		 */
		Call fingerprint(@Nullable Object... parts);

		/**
		 * Sets the store of the record. Default: the default store of the application.
		 * @param name name of a bean of type
		 * {@link io.idempotency.store.IdempotencyStore}
		 * @return this call
		 * @throws IllegalArgumentException if the bean does not exist
		 */
		Call store(String name);

		/**
		 * Sets whether the record commits in the database transaction of the action.
		 * Default: {@link TransactionMode#SEPARATE}.
		 * @param transaction {@link TransactionMode#JOIN} for the current transaction, or
		 * a new one, of the application's only or primary transaction manager
		 * @return this call
		 * @throws IllegalArgumentException if the transaction manager does not exist
		 */
		Call transaction(TransactionMode transaction);

		/**
		 * Sets a lookup of the result in the business data. It is called if the result is
		 * not stored, if the owner of a claim crashed, and after an exception of
		 * {@link #duplicateOn}.
		 * @param recovery returns the result: a value of the declared type or, for an
		 * asynchronous action, a future of that type; {@code null} if the action had no
		 * effect
		 * @return this call
		 */
		Call recover(Callable<?> recovery);

		/**
		 * Runs the action once for this key and returns its result. A duplicate receives
		 * the first result.
		 * @param <T> the type of the result
		 * @param type the type of a stored result when it is decoded
		 * @param action the work; its exceptions are propagated unchanged
		 * @return the result, {@code null} if the action returned {@code null}
		 * @throws IdempotencyException if the call was rejected
		 * @throws IllegalArgumentException if results of the type cannot be replayed or
		 * the options contradict each other; the action was not executed
		 */
		<T> @Nullable T execute(Class<T> type, Supplier<? extends @Nullable T> action);

		/**
		 * Does the same as {@link #execute(Class, Supplier)} for an asynchronous action.
		 * The key stays claimed until the future of the action completes.
		 * @param <T> the type of the result
		 * @param type the type of a stored result when it is decoded
		 * @param action the work; its exceptions and those of its future are propagated
		 * unchanged
		 * @return a future that completes with the result after the result was stored, or
		 * after the store failed to store it; the library then retries the write
		 * @throws IdempotencyException if the call was rejected
		 * @throws IllegalArgumentException as for {@link #execute(Class, Supplier)}
		 */
		<T> CompletableFuture<@Nullable T> executeAsync(Class<T> type,
				Supplier<? extends CompletionStage<? extends @Nullable T>> action);

		/**
		 * Does the same as {@link #execute(Class, Supplier)} for an action that may throw
		 * a checked exception, and for a result of any type, including generic types. For
		 * a type such as {@code CompletableFuture<Payment>} it does the same as
		 * {@link #executeAsync(Class, Supplier)}.
		 * @param <T> the type of the result
		 * @param type the type of a stored result when it is decoded
		 * @param action the work; its exceptions are propagated unchanged
		 * @return the result, {@code null} if the action returned {@code null}
		 * @throws IdempotencyException if the call was rejected
		 * @throws Exception the exception of the action
		 */
		<T> @Nullable T call(Type type, Callable<? extends @Nullable T> action) throws Exception;

		/**
		 * Does the same as {@link #execute(Class, Supplier)} for an action without a
		 * result.
		 * @param action the work; its exceptions are propagated unchanged
		 * @throws IdempotencyException if the call was rejected
		 */
		void run(Runnable action);

	}

}
