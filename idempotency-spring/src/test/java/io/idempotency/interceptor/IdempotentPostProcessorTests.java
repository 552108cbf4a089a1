package io.idempotency.interceptor;

import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.idempotency.IdempotencyContext;
import io.idempotency.Idempotent;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.framework.autoproxy.target.AbstractBeanFactoryBasedTargetSourceCreator;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.target.AbstractBeanFactoryBasedTargetSource;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.aop.target.PrototypeTargetSource;
import org.springframework.aop.target.ThreadLocalTargetSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.Ordered;
import org.springframework.security.fake.FakeAuthorization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Which beans get a guard, and where it stands among other advice. */
class IdempotentPostProcessorTests {

	private static final List<String> calls = new ArrayList<>();

	@BeforeEach
	void reset() {
		calls.clear();
	}

	private static void assertGuardedOnce(AnnotationConfigApplicationContext context, Task task) {
		TestStore store = context.getBean(TestStore.class);
		assertThat(task.run("7")).isEqualTo(task.run("7"));
		assertThat(store.claims()).hasSize(2);
		assertThat(store.lastClaim().key().operation()).doesNotContain("$Proxy", "$$");
	}

	@Test
	void aBeanIsGuardedWithoutAnyOtherProxying() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(TaskImpl.class)) {
			assertThat(AopUtils.isCglibProxy(context.getBean(TaskImpl.class))).isTrue();
			assertGuardedOnce(context, context.getBean(Task.class));
		}
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void noBeanIsCreatedTooEarly(CapturedOutput output) {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(TaskImpl.class)) {
			assertThat(context.isActive()).isTrue();
		}
		assertThat(output).doesNotContain("not eligible for getting processed");
	}

	@Test
	void otherBeansGetNoProxy() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Plain.class)) {
			assertThat(AopUtils.isAopProxy(context.getBean(Plain.class))).isFalse();
		}
	}

	/** Beans of other classes are not searched, so no place may be overlooked. */
	@ParameterizedTest
	@ValueSource(classes = { OfAnInterfaceOfAnInterface.class, Inherited.class, Composed.class, Repeated.class,
			OnATypeOfAType.class })
	void theAnnotationIsSeenWhereverItIs(Class<?> beanClass) {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(beanClass)) {
			assertThat(AopUtils.isAopProxy(context.getBean(beanClass))).isTrue();
			@SuppressWarnings("unchecked")
			Runs<String> bean = (Runs<String>) context.getBean(beanClass);
			assertThat(bean.run("7")).isEqualTo(bean.run("7"));
			assertThat(context.getBean(TestStore.class).claims()).hasSize(2);
		}
	}

	@Test
	void theStoreMayDependOnAGuardedBean() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
				MethodAdapterSetup.class, StoreOnTask.class, TaskImpl.class)) {
			assertGuardedOnce(context, context.getBean(Task.class));
		}
	}

	@Test
	void aPrototypeIsGuardedEachTime() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Prototype.class)) {
			assertGuardedOnce(context, context.getBean(Prototype.class));
			assertThat(context.getBean(Prototype.class)).isNotSameAs(context.getBean(Prototype.class));
		}
	}

	@Test
	void ofAScopedBeanTheTargetIsGuardedAndNotTheProxy() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.getBeanFactory().registerScope("thread", new SimpleThreadScope());
			context.register(MethodAdapterSetup.class, Scoped.class);
			context.refresh();
			assertGuardedOnce(context, context.getBean(Scoped.class));
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { Pooled.class, Swapped.class })
	void guardsBeanOfATargetSourceOnce(Class<?> setup) {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(setup)) {
			assertGuardedOnce(context, context.getBean("proxy", Task.class));
		}
	}

	/** The creator makes the targets in a factory that knows no guard. */
	@Test
	void guardsBeanOfATargetSourceCreator() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Created.class)) {
			assertGuardedOnce(context, context.getBean("!task", Task.class));
		}
	}

	@Test
	void theProductOfAFactoryBeanIsGuarded() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(TaskFactory.class)) {
			assertGuardedOnce(context, context.getBean(Task.class));
		}
	}

	@Test
	void aLambdaOfAnAnnotatedInterfaceIsGuarded() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Lambdas.class)) {
			assertGuardedOnce(context, context.getBean(Task.class));
			assertThat(context.getBean(TestStore.class).lastClaim().key().operation())
				.isEqualTo(Task.class.getName() + ".run(java.lang.String)");
		}
	}

	@Test
	void aJdkProxyOfSomebodyElseIsGuarded() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(ForeignProxies.class)) {
			assertGuardedOnce(context, context.getBean(Task.class));
			assertThat(context.getBean(TestStore.class).lastClaim().key().operation())
				.isEqualTo(Task.class.getName() + ".run(java.lang.String)");
		}
	}

	@Test
	void anExistingProxyTakesTheGuardBeforeItsAdvice() {
		try (AnnotationConfigApplicationContext context = advised((factory) -> {
			factory.setInterfaces(Task.class);
			factory.addAdvice(log("other"));
		}, OnlyOnTheClass.class)) {
			Task task = context.getBean(Task.class);
			assertThat(AopUtils.isJdkDynamicProxy(task)).isTrue();
			assertGuardedOnce(context, task);
			assertThat(calls).as("inside of the guard").containsExactly("other with a context");
		}
	}

	@Test
	void anExistingClassProxyTakesTheGuardBeforeItsAdvice() {
		try (AnnotationConfigApplicationContext context = advised((factory) -> {
			factory.setProxyTargetClass(true);
			factory.addAdvice(log("other"));
		}, OnlyOnTheClass.class)) {
			assertGuardedOnce(context, context.getBean(Task.class));
			assertThat(calls).containsExactly("other with a context");
			assertThat(((Advised) context.getBean(Task.class)).getAdvisorCount()).isEqualTo(2);
		}
	}

	@Test
	void aFrozenJdkProxyIsGuardedFromOutside() {
		try (AnnotationConfigApplicationContext context = advised((factory) -> {
			factory.setInterfaces(Task.class);
			factory.addAdvice(log("other"));
			factory.setFrozen(true);
		}, OnlyOnTheClass.class)) {
			assertGuardedOnce(context, context.getBean(Task.class));
			assertThat(calls).containsExactly("other with a context");
			assertThat(context.getBean(TestStore.class).lastClaim().key().operation())
				.startsWith(OnlyOnTheClass.class.getName());
		}
	}

	@Test
	void aFrozenClassProxyIsGuardedFromOutside() {
		try (AnnotationConfigApplicationContext context = advised((factory) -> {
			factory.setProxyTargetClass(true);
			factory.addAdvice(log("other"));
			factory.setFrozen(true);
		}, OnlyOnTheClass.class)) {
			OnlyOnTheClass task = context.getBean(OnlyOnTheClass.class);
			assertGuardedOnce(context, task);
			assertThat(calls).containsExactly("other with a context");
			context.getBean(TestStore.class)
				.tombstone(io.idempotency.key.IdempotencyKey.of("recovered", io.idempotency.key.Caller.GLOBAL, "7"));
			assertThat(task.recovered("7")).as("by a private method of the target").isEqualTo("found by target");
		}
	}

	@Test
	void aBeanThatIsRegisteredTwiceIsGuardedOnce() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(TaskImpl.class, Twice.class)) {
			assertGuardedOnce(context, (Task) context.getBean("again"));
			context.getBean(TestStore.class).reset();
			assertGuardedOnce(context, (Task) context.getBean("wrapped"));
		}
	}

	@Test
	void methodSecurityStaysOutsideSoThatADeniedCallMakesNoClaim() {
		try (AnnotationConfigApplicationContext context = advised((factory) -> {
			factory.addAdvice(new FakeAuthorization());
			factory.addAdvice(log("transaction"));
		}, OnlyOnTheClass.class)) {
			assertThatExceptionOfType(SecurityException.class).isThrownBy(() -> context.getBean(Task.class).run("7"));
			assertThat(context.getBean(TestStore.class).claims()).isEmpty();
			assertThat(advice(context)).containsExactly("FakeAuthorization", "IdempotencyInterceptor", "lambda");
		}
	}

	@Test
	void asynchronousExecutionStaysOutsideSoThatTheGuardSurroundsTheWork() {
		Executor direct = Runnable::run;
		try (AnnotationConfigApplicationContext context = advised((factory) -> {
			factory.addAdvice(new AsyncExecutionInterceptor(direct));
			factory.addAdvice(log("transaction"));
		}, OnlyOnTheClass.class)) {
			assertThat(advice(context)).containsExactly("AsyncExecutionInterceptor", "IdempotencyInterceptor",
					"lambda");
		}
	}

	@Test
	void advisorsOfASmallerOrderStayOutside() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetupWithOrder.start(100)) {
			assertThat(advice(context)).containsExactly("lambda", "IdempotencyInterceptor", "lambda");
		}
		try (AnnotationConfigApplicationContext context = MethodAdapterSetupWithOrder
			.start(Ordered.HIGHEST_PRECEDENCE)) {
			assertThat(advice(context)).containsExactly("IdempotencyInterceptor", "lambda", "lambda");
		}
	}

	private static List<String> advice(AnnotationConfigApplicationContext context) {
		return java.util.Arrays.stream(((Advised) context.getBean(Task.class)).getAdvisors())
			.map((advisor) -> advisor.getAdvice().getClass())
			.map((type) -> type.isHidden() ? "lambda" : type.getSimpleName())
			.toList();
	}

	private static MethodInterceptor log(String name) {
		return (invocation) -> {
			calls.add(name + (IdempotencyContext.current().isPresent() ? " with a context" : " without a context"));
			return invocation.proceed();
		};
	}

	private static AnnotationConfigApplicationContext advised(Consumer<ProxyFactory> customizer, Class<?>... beans) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.registerBean("proxying", Proxying.class, () -> new Proxying(customizer));
		context.register(MethodAdapterSetup.class);
		context.register(beans);
		context.refresh();
		return context;
	}

	/** A post-processor of somebody else. */
	private record Proxying(Consumer<ProxyFactory> customizer) implements BeanPostProcessor, Ordered {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof Task)) {
				return bean;
			}
			ProxyFactory factory = new ProxyFactory();
			factory.setTarget(bean);
			this.customizer.accept(factory);
			return factory.getProxy();
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

	}

	static final class MethodAdapterSetupWithOrder {

		private MethodAdapterSetupWithOrder() {
		}

		static AnnotationConfigApplicationContext start(int advisorOrder) {
			AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
			Advisor early = advisor(50);
			Advisor late = advisor(Ordered.LOWEST_PRECEDENCE);
			context.registerBean("proxying", Proxying.class,
					() -> new Proxying((factory) -> factory.addAdvisors(early, late)));
			context.register(MethodAdapterSetup.class, OnlyOnTheClass.class);
			context.addBeanFactoryPostProcessor(
					(beanFactory) -> beanFactory.registerSingleton("advisorOrder", advisorOrder));
			context.refresh();
			return context;
		}

		private static Advisor advisor(int order) {
			DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(log("order " + order));
			advisor.setOrder(order);
			return advisor;
		}

	}

	interface Task {

		@Idempotent("#key")
		String run(String key);

	}

	static class TaskImpl implements Task {

		private final AtomicInteger runs = new AtomicInteger();

		@Override
		public String run(String key) {
			return key + this.runs.incrementAndGet();
		}

	}

	/** The interface that a JDK proxy shows knows nothing of the guard. */
	static class OnlyOnTheClass implements Task {

		private final AtomicInteger runs = new AtomicInteger();

		private final String found = "found by target";

		@Override
		@Idempotent("#key")
		public String run(String key) {
			return key + this.runs.incrementAndGet();
		}

		@Idempotent(key = "#key", operation = "recovered", recover = "find")
		public String recovered(String key) {
			return key;
		}

		private String find(String key) {
			return this.found;
		}

	}

	static class Plain {

		public String run(String key) {
			return key;
		}

	}

	interface Runs<T> {

		T run(T key);

	}

	interface AnnotatedRuns<T> {

		@Idempotent("#key")
		T run(T key);

	}

	interface MoreRuns<T> extends AnnotatedRuns<T>, Runs<T> {

		@Override
		T run(T key);

	}

	static class OfAnInterfaceOfAnInterface implements MoreRuns<String> {

		private final AtomicInteger runs = new AtomicInteger();

		@Override
		public String run(String key) {
			return key + this.runs.incrementAndGet();
		}

	}

	static class Inherited extends OnlyOnTheClass implements Runs<String> {

	}

	@Idempotent("#key")
	@Repeatable(Pays.class)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Pay {

		String by();

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Pays {

		Pay[] value();

	}

	static class Composed extends Plain implements Runs<String> {

		@Override
		@Pay(by = "card")
		public String run(String key) {
			return super.run(key);
		}

	}

	static class Repeated extends Plain implements Runs<String> {

		@Override
		@Pay(by = "card")
		@Pay(by = "transfer")
		public String run(String key) {
			return super.run(key);
		}

	}

	@Idempotent("#key")
	interface Marker {

	}

	interface MarkerOfAMarker extends Marker {

	}

	static class OnATypeOfAType extends Plain implements Runs<String>, MarkerOfAMarker {

	}

	@Scope("prototype")
	static class Prototype extends TaskImpl {

	}

	@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class Scoped extends TaskImpl {

	}

	@Configuration(proxyBeanMethods = false)
	static class Pooled {

		@Bean
		@Scope("prototype")
		TaskImpl task() {
			return new TaskImpl();
		}

		@Bean
		ThreadLocalTargetSource targets() {
			ThreadLocalTargetSource targets = new ThreadLocalTargetSource();
			targets.setTargetBeanName("task");
			return targets;
		}

		@Bean
		ProxyFactoryBean proxy(ThreadLocalTargetSource targets) {
			ProxyFactoryBean proxy = new ProxyFactoryBean();
			proxy.setInterfaces(Task.class);
			proxy.setTargetSource(targets);
			return proxy;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Created {

		@Bean
		static DefaultAdvisorAutoProxyCreator autoProxyCreator(BeanFactory beanFactory) {
			AbstractBeanFactoryBasedTargetSourceCreator targets = new AbstractBeanFactoryBasedTargetSourceCreator() {

				@Override
				protected AbstractBeanFactoryBasedTargetSource createBeanFactoryBasedTargetSource(Class<?> type,
						String name) {
					return name.equals("!task") ? new PrototypeTargetSource() : null;
				}

			};
			targets.setBeanFactory(beanFactory);
			DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
			creator.setCustomTargetSourceCreators(targets);
			return creator;
		}

		@Bean("!task")
		TaskImpl task() {
			return new TaskImpl();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Swapped {

		@Bean
		TaskImpl task() {
			return new TaskImpl();
		}

		@Bean
		ProxyFactoryBean proxy(TaskImpl task) {
			ProxyFactoryBean proxy = new ProxyFactoryBean();
			proxy.setInterfaces(Task.class);
			proxy.setTargetSource(new HotSwappableTargetSource(task));
			return proxy;
		}

	}

	static class TaskFactory implements FactoryBean<Task> {

		@Override
		public Task getObject() {
			return new TaskImpl();
		}

		@Override
		public Class<?> getObjectType() {
			return Task.class;
		}

	}

	static class Lambdas {

		@Bean
		static Task task() {
			AtomicInteger runs = new AtomicInteger();
			return (key) -> key + runs.incrementAndGet();
		}

	}

	static class ForeignProxies {

		@Bean
		static Task task() {
			AtomicInteger runs = new AtomicInteger();
			return (Task) Proxy.newProxyInstance(Task.class.getClassLoader(), new Class<?>[] { Task.class },
					(proxy, method, arguments) -> method.getName().equals("run")
							? arguments[0] + "" + runs.incrementAndGet() : method.invoke(runs, arguments));
		}

	}

	static class Twice {

		@Bean(autowireCandidate = false)
		static Task again(TaskImpl task) {
			return task;
		}

		@Bean(autowireCandidate = false)
		static ProxyFactoryBean wrapped(TaskImpl task) {
			ProxyFactoryBean wrapper = new ProxyFactoryBean();
			wrapper.setTarget(task);
			return wrapper;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class StoreOnTask {

		@Bean
		TestStore testStore(Task task) {
			assertThat(AopUtils.isAopProxy(task)).isTrue();
			return new TestStore();
		}

	}

}
