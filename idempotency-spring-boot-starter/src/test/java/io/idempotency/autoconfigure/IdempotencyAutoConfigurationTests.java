package io.idempotency.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotencyTokens;
import io.idempotency.Idempotent;
import io.idempotency.IssuedToken;
import io.idempotency.StoreFailureMode;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.codec.ResultCodec;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.annotation.Order;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class IdempotencyAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class));

	private final ApplicationContextRunner payments = this.runner.withBean(Payments.class);

	@Test
	void guardsMethodsOfBeans() {
		this.payments.run((context) -> {
			Payments payments = context.getBean(Payments.class);
			assertThat(payments.pay("7")).isEqualTo(new Payments.Receipt("7", 1));
			assertThat(payments.pay("7")).isEqualTo(new Payments.Receipt("7", 1));
			assertThat(payments.pay("8")).isEqualTo(new Payments.Receipt("8", 2));
		});
	}

	@Test
	void guardsWithoutTheAutoProxyCreator() {
		this.payments.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.withPropertyValues("spring.aop.auto=false")
			.run((context) -> assertRunsOnce(context.getBean(Payments.class)));
	}

	@Test
	void guardsBesideTheAutoProxyCreatorOfAspectJ() {
		this.payments.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.run((context) -> assertRunsOnce(context.getBean(Payments.class)));
	}

	@Test
	void guardsWithoutAspectJ() {
		this.payments.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("org.aspectj"))
			.run((context) -> assertRunsOnce(context.getBean(Payments.class)));
	}

	@Test
	void guardsWithoutAnyOptionalJar() {
		this.runner
			.withClassLoader(new FilteredClassLoader("org.aspectj", "org.springframework.transaction",
					"org.springframework.web", "org.springframework.security", "jakarta.servlet",
					"com.fasterxml.jackson", "tools.jackson"))
			.withBean(Cancellations.class)
			.run((context) -> {
				Cancellations cancellations = context.getBean(Cancellations.class);
				cancellations.cancel("7");
				cancellations.cancel("7");
				assertThat(cancellations.runs()).isEqualTo(1);
			});
	}

	@Test
	void guardsBeansThatAreMadeLazily() {
		this.payments.withPropertyValues("spring.main.lazy-initialization=true")
			.run((context) -> assertRunsOnce(context.getBean(Payments.class)));
	}

	@Test
	void guardsWithVirtualThreads() {
		this.payments.withPropertyValues("spring.threads.virtual.enabled=true")
			.run((context) -> assertRunsOnce(context.getBean(Payments.class)));
	}

	@Test
	void noBeanIsMadeBeforeThePostProcessorsAreThere(CapturedOutput output) {
		this.payments.withUserConfiguration(TransparentAdvice.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("is not eligible for getting processed");
		});
	}

	@Test
	void advisorsOfAGreaterOrderStayInside() {
		this.payments.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.withUserConfiguration(TransparentAdvice.class)
			.withPropertyValues("idempotency.advisor-order=4")
			.run((context) -> assertThat(advice(context.getBean(Payments.class))).startsWith("IdempotencyInterceptor"));
	}

	@Test
	void advisorsOfASmallerOrderStayOutside() {
		this.payments.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.withUserConfiguration(TransparentAdvice.class)
			.run((context) -> assertThat(advice(context.getBean(Payments.class))).endsWith("IdempotencyInterceptor"));
	}

	@Test
	void propertiesBecomeThePolicyOfOperations() {
		this.payments
			.withPropertyValues("idempotency.retention=7d", "idempotency.lease=11s", "idempotency.renewal=false",
					"idempotency.conflict=wait", "idempotency.wait-timeout=3s", "idempotency.on-failure=remember",
					"idempotency.on-store-failure=proceed")
			.run((context) -> {
				IdempotencyOptions policy = context.getBean(IdempotentOperationSource.class)
					.operation(Payments.class.getDeclaredMethod("pay", String.class), Payments.class)
					.options();
				assertThat(policy.retention()).isEqualTo(Duration.ofDays(7));
				assertThat(policy.lease()).isEqualTo(Duration.ofSeconds(11));
				assertThat(policy.renewal()).isFalse();
				assertThat(policy.conflict()).isEqualTo(ConflictMode.WAIT);
				assertThat(policy.waitTimeout()).isEqualTo(Duration.ofSeconds(3));
				assertThat(policy.onFailure()).isEqualTo(FailureMode.REMEMBER);
				assertThat(policy.onStoreFailure()).isEqualTo(StoreFailureMode.PROCEED);
			});
	}

	@Test
	void withoutPropertiesThePolicyIsTheDefaultOfTheEngine() {
		this.payments.run((context) -> assertThat(context.getBean(IdempotencyOptions.class))
			.isEqualTo(IdempotencyOptions.DEFAULTS));
	}

	@Test
	void templateUsesTheProperties() {
		this.payments.withBean(RecordingStore.class)
			.withPropertyValues("idempotency.retention=2h", "idempotency.lease=13s")
			.run((context) -> {
				IdempotencyTemplate template = context.getBean(IdempotencyTemplate.class);
				template.operation("ship").key(7).run(() -> {
				});
				RecordingStore store = context.getBean(RecordingStore.class);
				assertThat(store.claims).singleElement().satisfies((claim) -> {
					assertThat(claim.lease()).isEqualTo(Duration.ofSeconds(13));
					assertThat(claim.retention()).isEqualTo(Duration.ofHours(2));
				});
			});
	}

	@Test
	void tokensLiveAsLongAsTheirPropertySays() {
		this.payments.withPropertyValues("idempotency.token.ttl=1d").run((context) -> {
			IssuedToken token = context.getBean(IdempotencyTokens.class).issue();
			assertThat(Duration.between(Instant.now(), token.expiresAt())).isGreaterThan(Duration.ofHours(23))
				.isLessThanOrEqualTo(Duration.ofDays(1));
		});
	}

	@Test
	void allListenersAreToldInTheirOrder() {
		List<String> told = new ArrayList<>();
		this.payments.withBean("told", List.class, () -> told).withUserConfiguration(Listeners.class).run((context) -> {
			context.getBean(Payments.class).pay("7");
			context.getBean(Payments.class).pay("7");
			assertThat(told).containsExactly("first EXECUTED", "second EXECUTED", "first REPLAYED", "second REPLAYED");
		});
	}

	@Test
	void maxWaitersBoundsTheWaitingDuplicates() {
		this.runner.withBean(Recursive.class)
			.withPropertyValues("idempotency.max-waiters=0", "idempotency.conflict=wait", "idempotency.wait-timeout=1h")
			.run((context) -> {
				Recursive recursive = context.getBean(Recursive.class);
				// With room for one waiter the inner call would wait for the outer one.
				assertThat(recursive.call(recursive)).isEqualTo("IdempotencyInProgressException");
			});
	}

	@Test
	void closeThatMayOutlastItsPhaseIsAWarning(CapturedOutput output) {
		this.runner
			.withPropertyValues("idempotency.shutdown-timeout=20s", "spring.lifecycle.timeout-per-shutdown-phase=10s")
			.run((context) -> assertThat(output).contains("WARN")
				.contains("idempotency.shutdown-timeout (20000 ms) is longer than "
						+ "spring.lifecycle.timeout-per-shutdown-phase (10000 ms)"));
	}

	@Test
	void whenTheApplicationHasACodecThenOursBacksOff() {
		this.runner.withBean("codec", ResultCodec.class, ResultCodecConfigurations.VoidResultCodec::new)
			.run((context) -> assertThat(context).getBean(ResultCodec.class)
				.isInstanceOf(ResultCodecConfigurations.VoidResultCodec.class));
	}

	@Test
	void whenTheApplicationHasAnEngineThenOursBacksOff() {
		this.payments
			.withBean("engine", IdempotencyEngine.class, () -> new IdempotencyEngine(1, IdempotencyListener.NONE))
			.run((context) -> {
				assertThat(context).hasSingleBean(IdempotencyEngine.class).hasBean("engine");
				assertRunsOnce(context.getBean(Payments.class));
			});
	}

	private static void assertRunsOnce(Payments payments) {
		assertThat(payments.pay("7")).isEqualTo(payments.pay("7")).isEqualTo(new Payments.Receipt("7", 1));
	}

	private static List<String> advice(Object bean) {
		List<String> names = new ArrayList<>();
		for (Advisor advisor : ((Advised) bean).getAdvisors()) {
			String name = advisor.getAdvice().getClass().getSimpleName();
			if (!name.equals("ExposeInvocationInterceptor$1") && !name.isEmpty()) {
				names.add(name);
			}
		}
		return names;
	}

	@Configuration(proxyBeanMethods = false)
	static class TransparentAdvice {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DefaultPointcutAdvisor advisor() {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.addMethodName("pay");
			DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, new Transparent());
			advisor.setOrder(5);
			return advisor;
		}

	}

	static class Transparent implements MethodInterceptor {

		@Override
		public Object invoke(MethodInvocation invocation) throws Throwable {
			return invocation.proceed();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Listeners {

		@Bean
		@Order(2)
		IdempotencyListener second(List<String> told) {
			return (event, operation) -> add(told, "second", event);
		}

		@Bean
		@Order(1)
		IdempotencyListener first(List<String> told) {
			return (event, operation) -> add(told, "first", event);
		}

		private static void add(List<String> told, String name, IdempotencyEvent event) {
			told.add(name + " " + event);
		}

	}

	static class Recursive {

		@Idempotent("'the one'")
		String call(@Nullable Recursive again) {
			if (again == null) {
				return "ran";
			}
			try {
				return again.call(null);
			}
			catch (RuntimeException ex) {
				return ex.getClass().getSimpleName();
			}
		}

	}

}
