package io.idempotency.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * Marks a rule that uses many threads, so that a machine can run only a few of these
 * rules at a time. Every concurrency test is also a {@link Race}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Tag("storm")
@Race
@interface ConcurrentCalls {

}
