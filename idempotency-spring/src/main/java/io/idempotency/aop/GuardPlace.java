package io.idempotency.aop;

import io.idempotency.Internal;

import org.springframework.aop.Advisor;

/**
 * Where the guard stands among the advice of a bean.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
@FunctionalInterface
public interface GuardPlace {

	/**
	 * Returns whether other advice of a bean stands outside of the guard.
	 * @param other the other advice
	 * @return whether it does
	 */
	boolean isOutside(Advisor other);

}
