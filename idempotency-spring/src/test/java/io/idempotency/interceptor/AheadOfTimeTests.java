package io.idempotency.interceptor;

import java.lang.reflect.Proxy;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.aop.SpringProxy;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.aot.BeanRegistrationCode;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.javapoet.ClassName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/** What a build that processes beans ahead of time learns about guarded beans. */
class AheadOfTimeTests {

	@Test
	void guardedBeanHasAClassOfAProxy() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Plain.class)) {
			Class<?> type = determine(context, Refunds.class);
			assertThat(type).isNotEqualTo(Refunds.class).isAssignableTo(Refunds.class);
			assertThat(type).isAssignableTo(SpringProxy.class);
		}
	}

	@Test
	void otherBeanKeepsItsClass() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Plain.class)) {
			assertThat(determine(context, Plain.class)).isEqualTo(Plain.class);
		}
	}

	@Test
	void generatedClassStaysAsItIs() {
		Class<?> proxy = Proxy
			.newProxyInstance(Task.class.getClassLoader(), new Class<?>[] { Task.class },
					(self, method, arguments) -> null)
			.getClass();
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Plain.class)) {
			Class<?> subclass = determine(context, Refunds.class);
			assertThat(determine(context, subclass)).isEqualTo(subclass);
			assertThat(determine(context, proxy)).isEqualTo(proxy);
		}
	}

	@Test
	void classThatNoProxyCanExtendIsRejected() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Plain.class)) {
			assertThatExceptionOfType(IdempotencyConfigurationException.class)
				.isThrownBy(() -> determine(context, Sealed.class))
				.withMessageContaining("a proxy cannot guard a method of a final class");
		}
	}

	@Test
	void processorIsFoundByABuild() {
		assertThat(AotServices.factories().load(BeanRegistrationAotProcessor.class).asList())
			.hasAtLeastOneElementOfType(GuardedMethodsAotProcessor.class);
	}

	@Test
	void guardedMethodIsHintedWithWhatItNames() throws NoSuchMethodException {
		RuntimeHints hints = hintsOf(Refunds.class);
		assertThat(RuntimeHintsPredicates.reflection()
			.onMethod(Refunds.class.getMethod("refund", long.class, Request.class))
			.invoke()).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection()
			.onMethod(Refunds.class.getDeclaredMethod("find", long.class, Request.class))
			.invoke()).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethod(Refund.class.getMethod("reference")).invoke())
			.accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethod(Reason.class.getMethod("getCode")).invoke())
			.accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(Request.class)
			.withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS)).accepts(hints);
	}

	@Test
	void argumentsThatNoExpressionReadsAreNotHinted() throws NoSuchMethodException {
		RuntimeHints hints = hintsOf(Orders.class);
		assertThat(
				RuntimeHintsPredicates.reflection().onMethod(Orders.class.getMethod("place", Request.class)).invoke())
			.accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onType(Request.class)).rejects(hints);
		assertThat(RuntimeHintsPredicates.reflection().onType(Request.class)).accepts(hintsOf(Carts.class));
	}

	@Test
	void otherBeanIsLeftAlone() {
		assertThat(contribution(Plain.class)).isNull();
	}

	private static Class<?> determine(AnnotationConfigApplicationContext context, Class<?> beanClass) {
		return context.getBean(IdempotentPostProcessor.class).determineBeanType(beanClass, "bean");
	}

	private static RuntimeHints hintsOf(Class<?> beanClass) {
		BeanRegistrationAotContribution contribution = contribution(beanClass);
		assertThat(contribution).isNotNull();
		DefaultGenerationContext context = new DefaultGenerationContext(
				new ClassNameGenerator(ClassName.get(AheadOfTimeTests.class)), new InMemoryGeneratedFiles());
		contribution.applyTo(context, mock(BeanRegistrationCode.class));
		return context.getRuntimeHints();
	}

	private static @Nullable BeanRegistrationAotContribution contribution(Class<?> beanClass) {
		DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();
		beanFactory.registerBeanDefinition("bean", new RootBeanDefinition(beanClass));
		return new GuardedMethodsAotProcessor().processAheadOfTime(RegisteredBean.of(beanFactory, "bean"));
	}

	interface Task {

		@Idempotent(key = "#id")
		@Nullable String run(String id);

	}

	static class Refunds {

		@Idempotent(key = "{#orderId, #request.reference}", recover = "find")
		public Refund refund(long orderId, Request request) {
			return new Refund(request.reference());
		}

		@Nullable Refund find(long orderId, Request request) {
			return null;
		}

	}

	static class Orders {

		@Idempotent(header = "Idempotency-Key", mode = IdempotencyMode.REJECT)
		public void place(Request request) {
			throw new UnsupportedOperationException("place is never called");
		}

	}

	static class Carts {

		@Idempotent(header = "Idempotency-Key")
		public void place(Request request) {
			throw new UnsupportedOperationException("place is never called");
		}

	}

	static class Plain {

		public void place(Request request) {
			throw new UnsupportedOperationException("place is never called");
		}

	}

	static final class Sealed {

		@Idempotent(key = "#id")
		public void run(String id) {
			throw new UnsupportedOperationException("run is never called");
		}

	}

	record Request(String reference, Reason reason) {
	}

	record Refund(String reference) {
	}

	static class Reason {

		private final String code;

		Reason(String code) {
			this.code = code;
		}

		public String getCode() {
			return this.code;
		}

	}

}
