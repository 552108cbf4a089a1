package io.idempotency.aop.proxy;

import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.AopProxyUtils;

/**
 * A target that is itself a proxy; its class is the class of the bean behind the proxy.
 */
record ProxyTargetSource(Object proxy) implements TargetSource {

	@Override
	public Class<?> getTargetClass() {
		return AopProxyUtils.ultimateTargetClass(this.proxy);
	}

	@Override
	public boolean isStatic() {
		return true;
	}

	@Override
	public Object getTarget() {
		return this.proxy;
	}

}
