package io.idempotency.http;

import java.util.function.Function;
import java.util.function.Predicate;

import io.idempotency.IdempotencyOptions;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

/**
 * Describes how functional routes are guarded. Each method corresponds to the attribute
 * of {@link Idempotent} with the same name. Functions of the request replace expressions.
 * Settings that are not specified have the defaults of {@code idempotency.*}.
 * <p>
 * {@link #key key}, {@link #header header} and {@link #body body} specify the location of
 * the key. At most one of them may be set. Without them, the key is the request header
 * {@code idempotency.key.header} ({@code Idempotency-Key}).
 * <p>
 * The thread that handles the request calls a function for each request. Functions must
 * neither block nor read the body. An invalid description is rejected with an
 * {@link io.idempotency.IdempotencyConfigurationException} when the filter is created.
 * For a single use in one thread.
 *
 * @param <R> the type of requests
 * @since 0.1.0
 */
public interface IdempotentRoute<R> extends IdempotencyOptions.Spec<IdempotentRoute<R>> {

	/**
	 * Sets the function that returns the key.
	 * @param key returns text, a number, a boolean, an enum, a {@link java.util.UUID}, a
	 * {@code java.time} value, or a list of these. If it returns {@code null}, an empty
	 * {@link java.util.Optional} or empty text, the key is missing
	 * @return this route
	 */
	IdempotentRoute<R> key(Function<? super R, ? extends @Nullable Object> key);

	/**
	 * Sets the request header that contains the key.
	 * @param name the name
	 * @return this route
	 */
	IdempotentRoute<R> header(String name);

	/**
	 * Sets the location of the key in the body.
	 * @param pointer a JSON Pointer (RFC 6901) such as {@code "/order/id"}, or the name
	 * of a form field
	 * @return this route
	 */
	IdempotentRoute<R> body(String pointer);

	/**
	 * Sets whether a request without a key is rejected. If not, it runs unguarded.
	 * Default: {@code true}.
	 * @param required whether a key is required
	 * @return this route
	 */
	IdempotentRoute<R> required(boolean required);

	/**
	 * Sets whether the key must be a token that this service issued to the caller.
	 * Default: {@code false}.
	 * @param token whether only issued tokens are accepted
	 * @return this route
	 */
	IdempotentRoute<R> token(boolean token);

	/**
	 * Sets the function that returns the key scope. Default: the scope resolver of the
	 * application, or {@code idempotency.scope}.
	 * @param scope returns the scope, for example the tenant. A request without a scope
	 * is rejected
	 * @return this route
	 */
	IdempotentRoute<R> scope(Function<? super R, ? extends @Nullable Object> scope);

	/**
	 * Sets the function that returns the values that must be equal on a retry. Default:
	 * the request is compared.
	 * @param fingerprint returns the compared values
	 * @return this route
	 */
	IdempotentRoute<R> fingerprint(Function<? super R, ? extends @Nullable Object> fingerprint);

	/**
	 * Disables the comparison of requests.
	 * @return this route
	 */
	IdempotentRoute<R> notCompared();

	/**
	 * Sets which requests are guarded. Other requests run unguarded.
	 * @param condition returns whether a request is guarded
	 * @return this route
	 */
	IdempotentRoute<R> condition(Predicate<? super R> condition);

	/**
	 * Sets the store of the records. Default: the default store of the application.
	 * @param name the name of a bean of type
	 * {@link io.idempotency.store.IdempotencyStore}
	 * @return this route
	 */
	IdempotentRoute<R> store(String name);

}
