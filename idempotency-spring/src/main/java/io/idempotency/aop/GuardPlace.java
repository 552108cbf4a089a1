package io.idempotency.aop;

import io.idempotency.Internal;

import org.springframework.aop.Advisor;

/**
 * Where the guard stands among the advice of a bean.
 *
 * @hidden
 */
@Internal
@FunctionalInterface
public interface GuardPlace {

	/** Returns whether other advice of a bean stands outside of the guard. */
	boolean isOutside(Advisor other);

}
