package io.idempotency.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the connection factory for idempotency records: that of Redis, or that of a
 * database over R2DBC. The mark is needed if the application has several factories and
 * the right one is not the primary one. One of R2DBC must lead to the same database in
 * every context.
 *
 * <pre class="code">
 * &#064;Bean
 * &#064;IdempotencyConnectionFactory
 * LettuceConnectionFactory idempotencyConnections() { … }
 * </pre>
 *
 * @since 0.1.0
 * @see IdempotencyDataSource
 */
@Target({ ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface IdempotencyConnectionFactory {

}
