package io.idempotency.interceptor;

import org.springframework.aop.Advisor;

/**
 * Where the guard stands among the advice of a bean.
 */
@FunctionalInterface
interface GuardPlace {

	/** Returns whether other advice of a bean stands outside of the guard. */
	boolean isOutside(Advisor other);

}
