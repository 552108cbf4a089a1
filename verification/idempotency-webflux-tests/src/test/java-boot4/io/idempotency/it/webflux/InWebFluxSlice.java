package io.idempotency.it.webflux;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;

/**
 * {@link WebFluxTest} under a name that does not move with the Boot line.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@WebFluxTest
public @interface InWebFluxSlice {

}
