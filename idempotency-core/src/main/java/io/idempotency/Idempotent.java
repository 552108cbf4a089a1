package io.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Makes a method idempotent: a call that arrives twice with one key has its effect once
 * and gets the same answer.
 * <p>
 * The annotation may stand on a class, a method, an interface method, or another
 * annotation (composed annotations work through {@code @AliasFor}). It guards controller
 * methods and any other methods of Spring beans. The annotation of a method wins over the
 * annotation of its class.
 * <p>
 * {@link #key() key}, {@link #header() header} and {@link #body() body} name the place of
 * the key; at most one of them may be set. On a controller method with none of the three,
 * the key is the request header {@code idempotency.key.header} ({@code Idempotency-Key}).
 * An integration may define a default for its methods. Any other method must set one of
 * them.
 * <p>
 * Attributes of type {@code String} that hold a duration take {@code 30s}, {@code 24h},
 * {@code PT24H} or a <code>${placeholder}</code>. Wrong attributes fail at start-up with
 * a message that names the method and the cure.
 * <p>
 * <b>Concurrency.</b> When calls with one key overlap, exactly one of them runs, on all
 * nodes that share the store. Its claim is renewed while the method runs. If the owner
 * dies, or stops for longer than its lease, a later call may take the key over
 * ({@link #onAbandoned()}). <b>Failure.</b> A call that throws releases its key unless
 * {@link #onFailure()} says otherwise. When the store cannot be reached, the call is
 * rejected unless {@code idempotency.on-store-failure=proceed}.
 *
 * @since 0.1.0
 */
@Target({ ElementType.TYPE, ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Idempotent {

	/**
	 * Alias for {@link #key()}.
	 * @return the key expression
	 */
	@AliasFor("key")
	String value() default "";

	/**
	 * SpEL expression that gives the key from the arguments, e.g. {@code "#order.id"} or
	 * {@code "{#userId, #productId}"}. In a list every element counts, and different
	 * lists never give the same key.
	 * <p>
	 * Arguments are variables ({@code #name}, {@code #a0}, {@code #p0}). All other values
	 * are members of the root object, so that no name can collide: {@code header('X')},
	 * {@code param('x')}, {@code body('/a/b')}, {@code messageId()} (in message
	 * listeners), {@code principal}, {@code method}, {@code target}; beans are
	 * {@code @name}. The result is text, a number, a boolean, an enum, a
	 * {@link java.util.UUID}, a {@code java.time} value, or a list, set or array of
	 * these; {@code null} and empty text mean that the key is missing. The order of a set
	 * does not count.
	 * @return the key expression
	 */
	@AliasFor("value")
	String key() default "";

	/**
	 * Name of the header of the request, or of the message in a listener, that holds the
	 * key.
	 * @return the header name
	 */
	String header() default "";

	/**
	 * Place of the key in the request body: a JSON Pointer (RFC 6901) such as
	 * {@code "/order/id"} for JSON, a field name for forms.
	 * @return the pointer or field name
	 */
	String body() default "";

	/**
	 * Whether a call without a key is rejected ({@link IdempotencyKeyMissingException},
	 * 400) or, with {@code false}, runs unguarded. A malformed key is rejected either way.
	 * @return whether a key is required
	 */
	boolean required() default true;

	/**
	 * Decides what a duplicate gets.
	 * @return the mode
	 */
	IdempotencyMode mode() default IdempotencyMode.REPLAY;

	/**
	 * Whether the key must be a token that this service issued to its caller
	 * ({@link IdempotencyTokens}). A call with any other key is rejected
	 * ({@link IdempotencyTokenUnknownException}, 400). The token comes from the place of
	 * the key: {@link #header()}, {@link #body()} or {@link #key()}. Tokens are kept in
	 * the default store.
	 * @return whether only issued tokens are accepted
	 */
	boolean token() default false;

	/**
	 * Name of the operation in stored keys, logs and events. Default: the fully qualified
	 * method signature, so that two methods never share a key by accident. Two methods
	 * with one name share their keys on purpose.
	 * @return the operation name
	 */
	String operation() default "";

	/**
	 * SpEL expression that says whose key it is. Default on controller methods: the
	 * {@code IdempotencyScopeResolver} of the application, or {@code idempotency.scope}
	 * if there is none. Default in message listeners: the consumer group, the queue or
	 * the subscription. Default on other methods: no caller is part of a key that an
	 * expression gives; a key from {@link #header()} or {@link #body()}, and a
	 * {@link #token() token}, belong to the caller of the current request.
	 * @return the scope expression
	 */
	String scope() default "";

	/**
	 * SpEL expression for what must be equal on a retry; {@code "none"} switches the
	 * comparison off. Default on controller methods: the request is compared. Default on
	 * other methods: nothing is compared where an expression gives the key, which names
	 * the thing; the arguments are compared where the key comes from {@link #header()} or
	 * {@link #body()}, because a client made it for one attempt. Arguments that cannot be
	 * written as JSON are rejected at start-up. Modes {@link IdempotencyMode#REJECT} and
	 * {@link IdempotencyMode#LOCK} compare nothing.
	 * @return the fingerprint expression or {@code "none"}
	 */
	String fingerprint() default "";

	/**
	 * Whether the result is kept for duplicates. With {@code false} the store learns only
	 * that the call is done: it gets neither a status nor a header nor the body. A
	 * duplicate gets the result that {@link #recover()} finds, or is rejected
	 * ({@link IdempotencyResultUnavailableException}, 409); it never runs. Use
	 * {@code false} for results that must not be copied into a store. A failure that
	 * {@code idempotency.on-failure} would remember also counts as done, and is not kept
	 * either.
	 * @return whether the result is kept
	 */
	boolean keepResult() default true;

	/**
	 * How long the result is kept. Default: {@code idempotency.retention} (24h).
	 * @return the retention
	 */
	String retention() default "";

	/**
	 * How long a claim lives without renewal. Default: {@code idempotency.lease} (30s).
	 * @return the lease
	 */
	String lease() default "";

	/**
	 * Decides what a duplicate gets while the first call runs.
	 * @return the conflict mode
	 */
	ConflictMode conflict() default ConflictMode.DEFAULT;

	/**
	 * Upper bound of {@link ConflictMode#WAIT}; when it is over, the duplicate is rejected
	 * as with {@link ConflictMode#REJECT}. Default: {@code idempotency.wait-timeout}
	 * (5s).
	 * @return the longest wait
	 */
	String waitTimeout() default "";

	/**
	 * Decides what happens to the key when the first call fails.
	 * @return the failure mode
	 */
	FailureMode onFailure() default FailureMode.DEFAULT;

	/**
	 * Exceptions of the method that mean "already done", e.g. a duplicate-key exception
	 * of a business unique index. They are handled as a duplicate, not as a failure: the
	 * guard calls {@link #recover()}, and if there is none, the answer is
	 * {@link IdempotencyResultUnavailableException}. If {@code recover} returns
	 * {@code null}, it was not a duplicate: the exception propagates, and the call failed
	 * ({@link #onFailure()}). Name the narrowest exception:
	 * {@code DataIntegrityViolationException} also covers overflow, NOT NULL and foreign
	 * keys; {@code DuplicateKeyException} does not.
	 * @return the exception types
	 */
	Class<? extends Throwable>[] duplicateOn() default {};

	/**
	 * Names of unique constraints. A {@link #duplicateOn()} exception counts only if the
	 * message of its root cause, which the driver writes, names one of them. Default:
	 * every {@code duplicateOn} exception counts.
	 * @return the constraint names
	 */
	String[] duplicateConstraint() default {};

	/**
	 * Name of a method of the same bean with the same parameters that looks the result up
	 * in the business data. The guard calls it when a result should be replayed but is
	 * not stored: the owner died, the result was too large, or an exception of
	 * {@link #duplicateOn()} was thrown. A non-null value becomes the result (it is
	 * stored if the call holds a claim) and is answered as a replay. After a dead owner,
	 * {@code null} means "nothing happened", so the method runs. After
	 * {@code duplicateOn}, {@code null} means that the call failed. If the call completed
	 * without a stored result, {@code null} leads to
	 * {@link IdempotencyResultUnavailableException}, never to a second run.
	 * @return the method name
	 */
	String recover() default "";

	/**
	 * Decides what a later call does when the owner died while running and there is no
	 * {@link #recover()}.
	 * @return the mode for abandoned claims
	 */
	AbandonedMode onAbandoned() default AbandonedMode.RERUN;

	/**
	 * Whether the record commits in the same database transaction as the method's work.
	 * @return the transaction mode
	 */
	TransactionMode transaction() default TransactionMode.SEPARATE;

	/**
	 * SpEL expression; when it gives {@code false}, the call runs unguarded.
	 * @return the condition expression
	 */
	String condition() default "";

	/**
	 * Bean name of another {@code IdempotencyStore} for this method.
	 * @return the bean name
	 */
	String store() default "";

}
