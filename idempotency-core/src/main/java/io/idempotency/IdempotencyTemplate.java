package io.idempotency;

import java.lang.reflect.Type;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Guards code without an annotation, with the same engine as {@link Idempotent}.
 *
 * <pre class="code">
 * Payment payment = idempotency.operation("payment.create")
 *     .key(order.id(), order.version())
 *     .fingerprint(order.amount())
 *     .execute(Payment.class, () -&gt; gateway.pay(order));
 * </pre>
 *
 * The template is thread-safe. A duplicate gets the first result, decoded anew. A call
 * that is rejected throws an {@link IdempotencyException}.
 *
 * @since 0.1.0
 */
public interface IdempotencyTemplate {

	/**
	 * Starts the description of one guarded call with the defaults of
	 * {@code idempotency.*}.
	 * @param operation name of the operation; the name is part of the key, so two
	 * operations never share a key
	 * @return the call, to be given a key
	 */
	Call operation(String operation);

	/**
	 * The description of one guarded call, for one use. It is not thread-safe.
	 */
	interface Call extends IdempotencyOptions.Spec<Call> {

		/**
		 * Sets the key. Every part counts, and different parts never give the same key.
		 * @param parts text, numbers, booleans, enums, UUIDs or {@code java.time} values;
		 * none of them {@code null} or empty
		 * @return this call
		 */
		Call key(Object... parts);

		/**
		 * Sets a token as the key. {@link IdempotencyTokens} must have issued the token
		 * to the current caller. A call with a token must set none of
		 * {@link #key(Object...)}, {@link #scope(String)} and {@link #store(String)}.
		 * @param token the token
		 * @return this call
		 */
		Call token(String token);

		/**
		 * Sets whose key it is. Default: all callers share one scope.
		 * @param scope the scope, e.g. a tenant
		 * @return this call
		 * @throws IllegalArgumentException if the scope is {@code null} or empty, because
		 * a key must never be shared by mistake
		 */
		Call scope(String scope);

		/**
		 * Sets what must be equal on a retry. Default: nothing is compared.
		 * @param parts values as for {@link #key(Object...)}, {@code null} allowed
		 * @return this call
		 */
		Call fingerprint(@Nullable Object... parts);

		/**
		 * Sets the store that keeps the record. Default: the default store of the
		 * application.
		 * @param name name of a bean of type
		 * {@link io.idempotency.store.IdempotencyStore}
		 * @return this call
		 * @throws IllegalArgumentException if there is no such bean
		 */
		Call store(String name);

		/**
		 * Sets whether the record commits in the database transaction of the action.
		 * Default: {@link TransactionMode#SEPARATE}.
		 * @param transaction {@link TransactionMode#JOIN} for the current transaction, or
		 * a new one, of the application's only or primary transaction manager
		 * @return this call
		 * @throws IllegalArgumentException if there is no such manager
		 */
		Call transaction(TransactionMode transaction);

		/**
		 * Sets how the result is looked up in the business data: when it was not kept,
		 * when the owner of a claim died, and after an exception of {@link #duplicateOn}.
		 * @param recovery gives the result, a value of the declared type or (for an
		 * asynchronous action) a future of one; {@code null} if nothing was done
		 * @return this call
		 */
		Call recover(Callable<?> recovery);

		/**
		 * Runs the action once for this key and returns its result; a duplicate gets the
		 * first result.
		 * @param <T> the type of the result
		 * @param type the type as which a stored result is decoded
		 * @param action the work; its exceptions come out unchanged
		 * @return the result, {@code null} if the action gave {@code null}
		 * @throws IdempotencyException if the call was rejected
		 * @throws IllegalArgumentException if results of the type cannot be replayed, or
		 * the call contradicts itself; nothing has run
		 */
		<T> @Nullable T execute(Class<T> type, Supplier<? extends @Nullable T> action);

		/**
		 * Does the same as {@link #execute(Class, Supplier)} for an action whose work
		 * goes on after it has returned: the key is claimed until the future of the
		 * action has completed.
		 * @param <T> the type of the result
		 * @param type the type as which a stored result is decoded
		 * @param action the work; its exceptions, and those of its future, come out
		 * unchanged
		 * @return a future that completes with the result after the result was stored, or
		 * after the store has failed to take it; the library then repeats the write
		 * @throws IdempotencyException if the call was rejected
		 * @throws IllegalArgumentException as {@link #execute(Class, Supplier)}
		 */
		<T> CompletableFuture<@Nullable T> executeAsync(Class<T> type,
				Supplier<? extends CompletionStage<? extends @Nullable T>> action);

		/**
		 * Does the same as {@link #execute(Class, Supplier)} for an action that may throw
		 * and a result of any type, generic types included. For a type such as
		 * {@code CompletableFuture<Payment>} it does the same as
		 * {@link #executeAsync(Class, Supplier)}.
		 * @param <T> the type of the result
		 * @param type the type as which a stored result is decoded
		 * @param action the work; its exceptions come out unchanged
		 * @return the result, {@code null} if the action gave {@code null}
		 * @throws IdempotencyException if the call was rejected
		 * @throws Exception the exception of the action
		 */
		<T> @Nullable T call(Type type, Callable<? extends @Nullable T> action) throws Exception;

		/**
		 * Does the same as {@link #execute(Class, Supplier)} for an action without a
		 * result.
		 * @param action the work; its exceptions come out unchanged
		 * @throws IdempotencyException if the call was rejected
		 */
		void run(Runnable action);

	}

}
