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
 * Gives the application of a Spring Boot test a {@link ForgetfulIdempotencyStore} in
 * place of its own store, and empties that store before each test. So several tests may
 * use the same key, such as {@code "key-1"}, and no test sees a replay of another test.
 *
 * @since 0.1.0
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Import(ForgetfulIdempotencyStore.class)
@ExtendWith(ForgetfulIdempotencyStore.Emptying.class)
public @interface ForgetKeysBetweenTests {

}
