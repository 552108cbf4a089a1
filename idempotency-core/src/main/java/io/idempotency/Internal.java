package io.idempotency;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a type, a constructor, or a method that is public only because other packages of
 * this library need it: applications must not use it, and it may change without notice.
 * <p>
 * What is marked, and each type inside it, also has the tag {@code @hidden}, which leaves
 * it out of the published Javadoc.
 *
 * @hidden
 */
@Internal
@Retention(RetentionPolicy.CLASS)
@Target({ ElementType.TYPE, ElementType.CONSTRUCTOR, ElementType.METHOD })
public @interface Internal {

}
