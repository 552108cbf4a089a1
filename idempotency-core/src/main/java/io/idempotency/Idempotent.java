package io.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Makes a method idempotent: if two calls have the same key, the method runs once and
 * both calls return the same result.
 * <p>
 * The annotation can be declared on a class, a method, an interface method, or another
 * annotation (composed annotations use {@code @AliasFor}). It guards controller methods
 * and other methods of Spring beans. The annotation of a method overrides the annotation
 * of its class.
 * <p>
 * {@link #key() key}, {@link #header() header} and {@link #body() body} define the source
 * of the key; set at most one of them. Without them, a controller method reads the key
 * from the request header {@code idempotency.key.header} ({@code Idempotency-Key}). An
 * integration may define a default for its methods. Any other method must set one of
 * them.
 * <p>
 * Attributes of type {@code String} that are durations accept {@code 30s}, {@code 24h},
 * {@code PT24H} or a <code>${placeholder}</code>. If an attribute is invalid, startup
 * fails with a message that contains the method and the fix.
 * <p>
 * <b>Concurrency.</b> If calls with one key overlap, exactly one of them runs, across all
 * nodes that share the store. Its claim is renewed while the method runs. If the owner
 * crashes, or pauses for longer than its lease, a later call may take over the key
 * ({@link #onAbandoned()}). <b>Failure.</b> If a call throws an exception, its key is
 * released, unless {@link #onFailure()} is set otherwise. If the store is unavailable,
 * the call is rejected, unless {@code idempotency.on-store-failure=proceed}.
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
	 * SpEL expression that returns the key from the arguments, for example
	 * {@code "#order.id"} or {@code "{#userId, #productId}"}. In a list, every element is
	 * significant: different lists never result in the same key.
	 * <p>
	 * Arguments are variables ({@code #name}, {@code #a0}, {@code #p0}). All other values
	 * are properties and methods of the root object, so that names cannot collide:
	 * {@code header('X')}, {@code param('x')}, {@code body('/a/b')}, {@code messageId()}
	 * (in message listeners), {@code principal}, {@code method}, {@code target}; beans
	 * are {@code @name}. The result is text, a number, a boolean, an enum, a
	 * {@link java.util.UUID}, a {@code java.time} value, or a list, set or array of
	 * these. With {@code null} or empty text, the key is missing. The order of a set is
	 * not significant.
	 * @return the key expression
	 */
	@AliasFor("value")
	String key() default "";

	/**
	 * Name of the request header, or of the message header in a listener, that contains
	 * the key.
	 * @return the header name
	 */
	String header() default "";

	/**
	 * Location of the key in the request body: a JSON Pointer (RFC 6901) such as
	 * {@code "/order/id"} for JSON, a field name for forms.
	 * @return the pointer or field name
	 */
	String body() default "";

	/**
	 * Whether a call without a key is rejected ({@link IdempotencyKeyMissingException},
	 * 400) or, with {@code false}, runs unguarded. A malformed key is rejected either
	 * way.
	 * @return whether a key is required
	 */
	boolean required() default true;

	/**
	 * Mode that determines the response to duplicates.
	 * @return the mode
	 */
	IdempotencyMode mode() default IdempotencyMode.REPLAY;

	/**
	 * Whether the key must be a token that this service issued to its caller
	 * ({@link IdempotencyTokens}). A call with any other key is rejected
	 * ({@link IdempotencyTokenUnknownException}, 400). The token is read from
	 * {@link #header()}, {@link #body()} or {@link #key()}. Tokens are stored in the
	 * default store.
	 * @return whether only issued tokens are accepted
	 */
	boolean token() default false;

	/**
	 * Name of the operation in stored keys, logs and events. Default: the fully qualified
	 * method signature, so that two methods do not share keys by accident. Methods with
	 * the same operation name share their keys.
	 * @return the operation name
	 */
	String operation() default "";

	/**
	 * SpEL expression that returns the scope of the key. Default on controller methods:
	 * the {@code IdempotencyScopeResolver} of the application or, without a resolver,
	 * {@code idempotency.scope}. Default in message listeners: the consumer group, the
	 * queue or the subscription. Default on other methods: a key from an expression is
	 * not caller-scoped. A key from {@link #header()} or {@link #body()} and a
	 * {@link #token() token} are scoped to the caller of the current request.
	 * @return the scope expression
	 */
	String scope() default "";

	/**
	 * SpEL expression for the values that must be equal on a retry; {@code "none"}
	 * disables the comparison. Default on controller methods: the request is compared.
	 * Default on other methods: with a key from an expression, nothing is compared,
	 * because the key identifies the business object. With a key from {@link #header()}
	 * or {@link #body()}, the arguments are compared, because a client generated the key
	 * for one request. If arguments cannot be serialized as JSON, startup fails. Modes
	 * {@link IdempotencyMode#REJECT} and {@link IdempotencyMode#LOCK} compare nothing.
	 * @return the fingerprint expression or {@code "none"}
	 */
	String fingerprint() default "";

	/**
	 * Whether the result is stored for duplicates. With {@code false}, the store contains
	 * only the information that the call completed, without status, headers and body. A
	 * duplicate receives the result that {@link #recover()} returns, or is rejected
	 * ({@link IdempotencyResultUnavailableException}, 409); it never runs. Use
	 * {@code false} for results that must not be copied into a store. If
	 * {@code idempotency.on-failure} remembers failures, a failed call also counts as
	 * completed, and its failure is not stored.
	 * @return whether the result is stored
	 */
	boolean keepResult() default true;

	/**
	 * Time for which the result is stored. Default: {@code idempotency.retention} (24h).
	 * @return the retention
	 */
	String retention() default "";

	/**
	 * Time for which a claim is valid without renewal. Default: {@code idempotency.lease}
	 * (30s).
	 * @return the lease
	 */
	String lease() default "";

	/**
	 * Mode that determines the response to a duplicate while the first call runs.
	 * @return the conflict mode
	 */
	ConflictMode conflict() default ConflictMode.DEFAULT;

	/**
	 * Maximum wait of {@link ConflictMode#WAIT}. After that, the duplicate is rejected as
	 * with {@link ConflictMode#REJECT}. Default: {@code idempotency.wait-timeout} (5s).
	 * @return the longest wait
	 */
	String waitTimeout() default "";

	/**
	 * Mode that determines whether the key is released when the first call fails.
	 * @return the failure mode
	 */
	FailureMode onFailure() default FailureMode.DEFAULT;

	/**
	 * Exceptions of the method that mean "already done", for example a duplicate-key
	 * exception of a unique index in the business data. They are handled as a duplicate,
	 * not as a failure: the guard calls {@link #recover()} or, if it is not set, throws
	 * {@link IdempotencyResultUnavailableException}. If {@code recover} returns
	 * {@code null}, the call was not a duplicate: the exception is propagated and the
	 * call fails ({@link #onFailure()}). Use the narrowest exception:
	 * {@code DataIntegrityViolationException} also covers overflow, NOT NULL and foreign
	 * keys; {@code DuplicateKeyException} does not.
	 * @return the exception types
	 */
	Class<? extends Throwable>[] duplicateOn() default {};

	/**
	 * Names of unique constraints. A {@link #duplicateOn()} exception counts only if the
	 * message of its root cause, which the driver creates, contains one of them. Default:
	 * every {@code duplicateOn} exception counts.
	 * @return the constraint names
	 */
	String[] duplicateConstraint() default {};

	/**
	 * Name of a method of the same bean with the same parameters that looks up the result
	 * in the business data. The guard calls it if a result should be replayed but is not
	 * stored. Reasons are a crash of the first call's process, a result that was too
	 * large, or an exception of {@link #duplicateOn()}. A non-null value becomes the
	 * result and is returned as a replay. It is stored if the call holds a claim. After a
	 * crash, {@code null} means that the first call had no effect, so the method runs.
	 * After {@code duplicateOn}, {@code null} means that the call failed. If the call
	 * completed without a stored result, {@code null} leads to
	 * {@link IdempotencyResultUnavailableException}, never to a second run.
	 * @return the method name
	 */
	String recover() default "";

	/**
	 * Mode that determines the behavior of a later call if the process of the first call
	 * crashed and {@link #recover()} is not set.
	 * @return the mode for abandoned claims
	 */
	AbandonedMode onAbandoned() default AbandonedMode.RERUN;

	/**
	 * Whether the record commits in the same database transaction as the method's work.
	 * @return the transaction mode
	 */
	TransactionMode transaction() default TransactionMode.SEPARATE;

	/**
	 * SpEL expression; if it returns {@code false}, the call runs unguarded.
	 * @return the condition expression
	 */
	String condition() default "";

	/**
	 * Bean name of another {@code IdempotencyStore} for this method.
	 * @return the bean name
	 */
	String store() default "";

}
