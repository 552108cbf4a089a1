package org.springframework.security.fake;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;

/** Method security, as far as its package tells: denies every call. */
public class FakeAuthorization implements MethodInterceptor {

	@Override
	public Object invoke(MethodInvocation invocation) {
		throw new SecurityException("denied");
	}

}
