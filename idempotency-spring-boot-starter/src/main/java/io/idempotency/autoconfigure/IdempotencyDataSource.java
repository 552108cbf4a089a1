package io.idempotency.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the data source for idempotency records. The mark is needed if the application
 * has several data sources and the right one is not the primary one, or if the primary
 * one chooses a database by thread-bound state. All threads must get the same database
 * from the marked one.
 *
 * <pre class="code">
 * &#064;Bean
 * &#064;IdempotencyDataSource
 * DataSource idempotencyDataSource() { … }
 * </pre>
 *
 * @since 0.1.0
 * @see IdempotencyConnectionFactory
 */
@Target({ ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface IdempotencyDataSource {

}
