package io.idempotency.interceptor;

import java.lang.reflect.Method;

import io.idempotency.Internal;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.AopUtils;

/**
 * Knows whether the guard is the first advice that a call of a bean meets.
 *
 * @hidden
 */
@Internal
public final class OutermostGuard {

	private OutermostGuard() {
	}

	/**
	 * Whether nothing advises a method outside of its guard.
	 * @param bean the bean as it is called
	 * @param method one of its methods
	 * @return whether the guard comes first; {@code false} also where that cannot be seen
	 */
	public static boolean isOf(Object bean, Method method) {
		if (!(bean instanceof Advised advised)) {
			return false;
		}
		Class<?> targetClass = AopUtils.getTargetClass(bean);
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		for (Advisor advisor : advised.getAdvisors()) {
			if (advisor.getAdvice() instanceof IdempotencyInterceptor) {
				return true;
			}
			if (mayAdvise(advisor, specific, targetClass)) {
				return false;
			}
		}
		return false;
	}

	private static boolean mayAdvise(Advisor advisor, Method method, Class<?> targetClass) {
		if (advisor == ExposeInvocationInterceptor.ADVISOR) {
			return false;
		}
		return !(advisor instanceof PointcutAdvisor pointcut)
				|| pointcut.getPointcut().getClassFilter().matches(targetClass)
						&& pointcut.getPointcut().getMethodMatcher().matches(method, targetClass);
	}

}
