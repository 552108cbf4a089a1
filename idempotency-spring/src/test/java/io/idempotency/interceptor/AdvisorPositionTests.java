package io.idempotency.interceptor;

import java.lang.reflect.Method;

import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.InterceptorConfiguration.AdvisorPosition;
import io.idempotency.key.Namespace;
import org.aopalliance.aop.Advice;
import org.junit.jupiter.api.Test;

import org.springframework.aop.MethodBeforeAdvice;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import static org.assertj.core.api.Assertions.assertThat;

class AdvisorPositionTests {

	private static final MethodBeforeAdvice OTHER = (method, args, target) -> {
	};

	private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

	private final IdempotencyInterceptor guard = new IdempotencyInterceptor(
			this.beans.getBeanProvider(IdempotentOperationSource.class),
			this.beans.getBeanProvider(InvocationAdapter.class), this.beans.getBeanProvider(Namespace.class));

	private final ProxyFactory proxies = new ProxyFactory(new Orders());

	@Test
	void guardAloneIsOutermost() {
		this.proxies.addAdvice(this.guard);
		assertThat(isOutermost()).isTrue();
	}

	@Test
	void adviceInsideChangesNothing() {
		this.proxies.addAdvice(this.guard);
		this.proxies.addAdvice(OTHER);
		assertThat(isOutermost()).isTrue();
	}

	@Test
	void adviceOutsideOfTheMethodIsSeen() {
		this.proxies.addAdvice(OTHER);
		this.proxies.addAdvice(this.guard);
		assertThat(isOutermost()).isFalse();
	}

	@Test
	void adviceOutsideOfAnotherMethodIsNotMeant() {
		this.proxies.addAdvisor(named("cancel", OTHER));
		this.proxies.addAdvice(this.guard);
		assertThat(isOutermost()).isTrue();
	}

	@Test
	void adviceOutsideOfTheMethodByNameIsSeen() {
		this.proxies.addAdvisor(named("place", OTHER));
		this.proxies.addAdvice(this.guard);
		assertThat(isOutermost()).isFalse();
	}

	@Test
	void adviceOutsideOfAnotherClassIsNotMeant() {
		NameMatchMethodPointcutAdvisor named = named("place", OTHER);
		named.setClassFilter((type) -> type != Orders.class);
		this.proxies.addAdvisor(named);
		this.proxies.addAdvice(this.guard);
		assertThat(isOutermost()).isTrue();
	}

	@Test
	void whatSpringPutsFirstForAspectsProtectsNothing() {
		this.proxies.addAdvisor(ExposeInvocationInterceptor.ADVISOR);
		this.proxies.addAdvice(this.guard);
		assertThat(isOutermost()).isTrue();
	}

	@Test
	void beanWithoutAGuardHasNone() {
		this.proxies.addAdvice(OTHER);
		assertThat(isOutermost()).isFalse();
		this.proxies.removeAdvice(OTHER);
		assertThat(isOutermost()).isFalse();
		assertThat(AdvisorPosition.isOf(new Orders(), place())).isFalse();
	}

	@Test
	void guardBehindAnotherProxyIsNotSeen() {
		this.proxies.addAdvice(this.guard);
		ProxyFactory outer = new ProxyFactory(this.proxies.getProxy());
		assertThat(AdvisorPosition.isOf(outer.getProxy(), place())).isFalse();
	}

	private boolean isOutermost() {
		return AdvisorPosition.isOf(this.proxies.getProxy(), place());
	}

	private static NameMatchMethodPointcutAdvisor named(String method, Advice advice) {
		NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(advice);
		advisor.setMappedName(method);
		return advisor;
	}

	private static Method place() {
		try {
			return Orders.class.getMethod("place");
		}
		catch (NoSuchMethodException ex) {
			throw new AssertionError(ex);
		}
	}

	static class Orders {

		public void place() {
		}

		public void cancel() {
		}

	}

}
