package io.idempotency.it.servers;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * Tests a store with its server, without any of Spring Boot, or on one more store than
 * other tests: {@code .ci/run} repeats such a test on no second line, the matrix of the
 * workflow does.
 */
@Tag("store-alone")
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface StoreAlone {

}
