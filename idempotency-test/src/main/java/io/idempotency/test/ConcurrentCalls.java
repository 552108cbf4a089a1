package io.idempotency.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * A rule that keeps many threads busy, so that a machine can run only few such rules at a
 * time. Every storm is a {@link Race}, too.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Tag("storm")
@Race
@interface ConcurrentCalls {

}
