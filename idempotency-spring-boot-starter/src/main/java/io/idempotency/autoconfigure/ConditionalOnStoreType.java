package io.idempotency.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/** Matches if {@code idempotency.store} is one of the given types. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnStoreTypeCondition.class)
@interface ConditionalOnStoreType {

	StoreType[] value();

}
