package io.idempotency;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks an operation that is deliberately not guarded: a handler, a listener, a GraphQL
 * mutation or an AI tool. {@link OperationCoverage} lists the reason.
 * <p>
 * A method with this annotation is not guarded by {@link Idempotent} on its class.
 * Startup fails if one method has both annotations, or if the reason is blank.
 *
 * <pre class="code">
 * &#064;PostMapping("/search")
 * &#064;NotIdempotent("Read-only search with a request body")
 * List&lt;Product&gt; search(&#064;RequestBody Query query) { ... }
 * </pre>
 *
 * @since 0.1.0
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface NotIdempotent {

	/**
	 * Returns the reason why the operation is not guarded.
	 */
	String value();

}
