package io.idempotency;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a type, a constructor, or a method that is public only because other packages of
 * this library use it. Applications must not use it, and it may change without notice.
 * <p>
 * Marked elements and their nested types also have the tag {@code @hidden}, which
 * excludes them from the published Javadoc.
 *
 * @hidden
 */
@Internal
@Retention(RetentionPolicy.CLASS)
@Target({ ElementType.TYPE, ElementType.CONSTRUCTOR, ElementType.METHOD })
public @interface Internal {

}
