package io.idempotency.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.context.annotation.Import;

/**
 * Gives the application of a Spring Boot test a {@link ForgetfulIdempotencyStore} in the
 * place of its own, and empties it before each test: so tests may use the same key, as
 * {@code "key-1"}, and see no replay of each other.
 *
 * @since 0.1.0
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Import(ForgetfulIdempotencyStore.class)
@ExtendWith(ForgetKeysExtension.class)
public @interface ForgetKeysBetweenTests {

}
