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
 * Replaces the store of a Spring Boot test's application with a
 * {@link ForgetfulIdempotencyStore}, and clears that store before each test. Several
 * tests can use the same key, such as {@code "key-1"}, without receiving replays of each
 * other.
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
