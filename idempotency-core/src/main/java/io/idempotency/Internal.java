package io.idempotency;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a type that is public only because other packages of this library need it:
 * applications must not use it, and it may change without notice.
 * <p>
 * Such a type, and each type inside it, also has the tag {@code @hidden}, which leaves it
 * out of the published Javadoc.
 *
 * @hidden
 */
@Internal
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface Internal {

}
