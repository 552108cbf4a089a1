package io.idempotency.http;

import java.util.function.Function;
import java.util.function.Predicate;

import io.idempotency.IdempotencyOptions;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

/**
 * Describes how functional routes of the web are guarded. Each method does what the
 * attribute of {@link Idempotent} with the same name does, with functions of the request
 * in the place of expressions. What is not set has the default of {@code idempotency.*}.
 * <p>
 * {@link #key key}, {@link #header header} and {@link #body body} name the place of the
 * key; at most one of them may be set. With none of them the key is the request header
 * {@code idempotency.key.header} ({@code Idempotency-Key}).
 * <p>
 * A function is asked for each request, by the thread that handles it, and must neither
 * block nor read the body. A wrong description fails when the filter is made, with an
 * {@link io.idempotency.IdempotencyConfigurationException}. For one use, in one thread.
 *
 * @param <R> the type of requests
 * @since 0.1.0
 */
public interface IdempotentRoute<R> extends IdempotencyOptions.Spec<IdempotentRoute<R>> {

	/**
	 * Lets a function give the key.
	 * @param key gives text, a number, a boolean, an enum, a {@link java.util.UUID}, a
	 * {@code java.time} value, or a list of these; {@code null}, an empty
	 * {@link java.util.Optional} and empty text mean that the key is missing
	 * @return this route
	 */
	IdempotentRoute<R> key(Function<? super R, ? extends @Nullable Object> key);

	/**
	 * Names the header of the request that holds the key.
	 * @param name the name
	 * @return this route
	 */
	IdempotentRoute<R> header(String name);

	/**
	 * Names the place of the key in the body.
	 * @param pointer a JSON Pointer (RFC 6901) such as {@code "/order/id"}, or the name
	 * of a form field
	 * @return this route
	 */
	IdempotentRoute<R> body(String pointer);

	/**
	 * Sets whether a request without a key is rejected, or runs unguarded. Default:
	 * {@code true}.
	 * @param required whether a key is required
	 * @return this route
	 */
	IdempotentRoute<R> required(boolean required);

	/**
	 * Sets whether the key must be a token that this service has issued to its caller.
	 * Default: {@code false}.
	 * @param token whether only issued tokens are accepted
	 * @return this route
	 */
	IdempotentRoute<R> token(boolean token);

	/**
	 * Lets a function say whose key it is. Default: the scope resolver of the
	 * application, or {@code idempotency.scope}.
	 * @param scope gives the scope, e.g. the tenant; a request for which it gives nothing
	 * is rejected
	 * @return this route
	 */
	IdempotentRoute<R> scope(Function<? super R, ? extends @Nullable Object> scope);

	/**
	 * Lets a function say what must be equal on a retry. Default: the request is
	 * compared.
	 * @param fingerprint gives what is compared
	 * @return this route
	 */
	IdempotentRoute<R> fingerprint(Function<? super R, ? extends @Nullable Object> fingerprint);

	/**
	 * Switches the comparison off.
	 * @return this route
	 */
	IdempotentRoute<R> notCompared();

	/**
	 * Lets only some requests be guarded; the others run unguarded.
	 * @param condition says whether a request is guarded
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
