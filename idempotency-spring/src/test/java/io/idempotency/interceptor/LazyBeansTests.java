package io.idempotency.interceptor;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.implementation.StubMethod;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Beans that are made when they are needed are checked at start-up, too, and are not made
 * for it.
 */
class LazyBeansTests {

	private static final AtomicInteger made = new AtomicInteger();

	@BeforeEach
	void reset() {
		made.set(0);
	}

	private static void assertRejected(Class<?> bean, String problem) {
		IdempotencyConfigurationException failure = Rejections.of(bean);
		assertThat(failure).hasMessageContaining("#run(String)").hasMessageContaining(problem);
		assertThat(made).hasValue(0);
	}

	@Test
	void aWrongAnnotationIsFoundWithoutTheBean() {
		assertRejected(LazyBean.class, "it has no key source");
		assertRejected(Prototype.class, "it has no key source");
		assertRejected(LazyFactory.class, "it has no key source");
		assertRejected(LazyFinal.class, "a proxy cannot guard a method of a final class");
	}

	@Test
	void aRightOneDoesNotMakeTheBean() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(LazyRight.class)) {
			assertThat(made).hasValue(0);
			context.getBean(LazyRight.class).run("7");
			assertThat(made.get()).isPositive();
			assertThat(context.getBean(TestStore.class).claims()).hasSize(1);
		}
	}

	/** The class of the bean may have what its declared type has not. */
	@Test
	void whatIsKnownByAnInterfaceOnlyIsCheckedWhenItIsMade() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(InterfaceFactory.class)) {
			assertThat(context.getBean(Task.class).run("7")).isEqualTo("7");
		}
	}

	/** Lazy because what it needs may be missing. */
	@Test
	void aClassThatCannotBeReadIsNoProblemUntilItIsNeeded() {
		TypeDescription missing = new ByteBuddy().subclass(Object.class)
			.name("missing.Type")
			.make()
			.getTypeDescription();
		Class<?> broken = new ByteBuddy().subclass(Object.class)
			.defineMethod("run", void.class, Visibility.PUBLIC)
			.withParameters(missing)
			.intercept(StubMethod.INSTANCE)
			.make()
			.load(getClass().getClassLoader())
			.getLoaded();
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(MethodAdapterSetup.class);
			BeanDefinition definition = new RootBeanDefinition(broken);
			definition.setLazyInit(true);
			context.registerBeanDefinition("broken", definition);
			context.refresh();
			assertThat(context.isActive()).isTrue();
		}
	}

	@Lazy
	static class LazyBean {

		LazyBean() {
			made.incrementAndGet();
		}

		@Idempotent
		public void run(String key) {
		}

	}

	@Scope("prototype")
	static class Prototype extends LazyBean {

	}

	static class LazyFactory {

		@Bean
		@Lazy
		static LazyBean lazyBean() {
			return new LazyBean();
		}

	}

	@Lazy
	static final class LazyFinal {

		LazyFinal() {
			made.incrementAndGet();
		}

		@Idempotent("#key")
		public void run(String key) {
		}

	}

	@Lazy
	static class LazyRight {

		LazyRight() {
			made.incrementAndGet();
		}

		@Idempotent("#key")
		public void run(String key) {
		}

	}

	interface Task {

		@Idempotent(key = "#key", recover = "find")
		String run(String key);

	}

	static class TaskImpl implements Task {

		@Override
		public String run(String key) {
			return key;
		}

		String find(String key) {
			return key;
		}

	}

	static class InterfaceFactory {

		@Bean
		@Lazy
		static Task task() {
			return new TaskImpl();
		}

	}

}
