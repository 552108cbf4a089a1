package io.idempotency.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An operation has the name of a class: two beans of it must not answer for each other.
 */
class BeansOfOneClassTests {

	private static final List<String> charged = new ArrayList<>();

	private static AnnotationConfigApplicationContext started(Class<?>... components) {
		charged.clear();
		return MethodAdapterSetup.start(components);
	}

	@ParameterizedTest
	@ValueSource(classes = { TwoGateways.class, TwoListeners.class, TwoLambdas.class, TwoLazyGateways.class })
	void twoBeansThatWouldShareTheirKeysAreRejected(Class<?> setup) {
		assertThat(Rejections.of(setup)).hasMessageContaining("'adyen'")
			.hasMessageContaining("'stripe'")
			.hasMessageContaining("have the same keys")
			.extracting(IdempotencyConfigurationException::action)
			.asString()
			.contains("scope = \"target.", "a separate class for each bean", "operation");
	}

	/** Its class is not known before it is made. */
	@Test
	void aLazyBeanIsRejectedWhenItIsMade() {
		try (AnnotationConfigApplicationContext context = started(LazyFactories.class)) {
			assertThat(context.getBean("stripe", Gateway.class).pay("7")).isEqualTo("stripe 7");
			assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> context.getBean("adyen"))
				.havingRootCause()
				.withMessageContaining("'stripe'");
		}
	}

	@Test
	void eachHasItsOwnKeysByAScope() {
		try (AnnotationConfigApplicationContext context = started(ScopedGateways.class)) {
			assertThat(context.getBean("stripe", ScopedGateway.class).pay("7")).isEqualTo("stripe 7");
			assertThat(context.getBean("adyen", ScopedGateway.class).pay("7")).isEqualTo("adyen 7");
			assertThat(context.getBean("adyen", ScopedGateway.class).refund("7")).isEqualTo("adyen -7");
			assertThat(context.getBean("stripe", ScopedGateway.class).refund("7")).isEqualTo("stripe -7");
			assertThat(charged).hasSize(4);
		}
	}

	@Test
	void aNameOrAnIssuedTokenIsSharedOnPurpose() {
		try (AnnotationConfigApplicationContext context = started(NamedGateways.class)) {
			assertThat(context.getBean("stripe", NamedGateway.class).pay("7")).isEqualTo("stripe 7");
			assertThat(context.getBean("adyen", NamedGateway.class).pay("7")).isEqualTo("stripe 7");
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { Prototype.class, OtherClasses.class, OneBeanTwice.class })
	void oneBeanOfSeveralObjectsOrNamesIsNotRejected(Class<?> setup) {
		try (AnnotationConfigApplicationContext context = started(setup)) {
			for (int i = 0; i < 2; i++) {
				for (String name : context.getBeanNamesForType(Gateway.class)) {
					assertThat(context.getBean(name, Gateway.class).pay("7")).endsWith(" 7");
				}
			}
		}
	}

	@Test
	void contextsAboveEachOtherMayHaveABeanEach() {
		try (AnnotationConfigApplicationContext parent = started(OneGateway.class);
				AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
			child.setParent(parent);
			child.register(MethodAdapterSetup.class);
			child.registerBean("adyen", Gateway.class, () -> new Gateway("adyen"));
			child.refresh();
			assertThat(child.getBean("adyen", Gateway.class).pay("7")).isEqualTo("adyen 7");
		}
	}

	@Test
	void aBeanThatReplacesAnotherOneIsNotRejected() {
		try (AnnotationConfigApplicationContext context = started(OneGateway.class)) {
			BeanDefinition next = BeanDefinitionBuilder.genericBeanDefinition(Gateway.class)
				.addConstructorArgValue("next")
				.getBeanDefinition();
			context.getDefaultListableBeanFactory().destroySingleton("stripe");
			context.registerBeanDefinition("stripe", next);
			assertThat(context.getBean("stripe", Gateway.class).pay("7")).isEqualTo("next 7");
			context.removeBeanDefinition("stripe");
			context.registerBeanDefinition("renamed", next);
			assertThat(context.getBean("renamed", Gateway.class).pay("8")).isEqualTo("next 8");
		}
	}

	static class Gateway {

		final String name;

		Gateway(String name) {
			this.name = name;
		}

		public String getName() {
			return this.name;
		}

		@Idempotent("#order")
		public String pay(String order) {
			charged.add(this.name);
			return this.name + " " + order;
		}

	}

	static class TwoGateways {

		@Bean
		static Gateway stripe() {
			return new Gateway("stripe");
		}

		@Bean
		static Gateway adyen() {
			return new Gateway("adyen");
		}

	}

	static class OneGateway {

		@Bean
		static Gateway stripe() {
			return new Gateway("stripe");
		}

	}

	static class LazyFactories {

		@Bean
		@Lazy
		static Gateway stripe() {
			return new Gateway("stripe");
		}

		@Bean
		@Lazy
		static Gateway adyen() {
			return new Gateway("adyen");
		}

	}

	static class TwoLazyGateways implements org.springframework.beans.factory.config.BeanFactoryPostProcessor {

		@Override
		public void postProcessBeanFactory(
				org.springframework.beans.factory.config.ConfigurableListableBeanFactory beanFactory) {
			for (String name : List.of("stripe", "adyen")) {
				((org.springframework.beans.factory.support.BeanDefinitionRegistry) beanFactory).registerBeanDefinition(
						name,
						BeanDefinitionBuilder.genericBeanDefinition(Gateway.class)
							.addConstructorArgValue(name)
							.setLazyInit(true)
							.getBeanDefinition());
			}
		}

	}

	interface Charge extends Consumer<String> {

		@Override
		@Idempotent("#a0")
		void accept(String order);

	}

	static class TwoLambdas {

		@Bean
		static Charge stripe() {
			return (order) -> charged.add("stripe");
		}

		@Bean
		static Charge adyen() {
			return (order) -> charged.add("adyen");
		}

	}

	static class Paid {

		@EventListener
		@Idempotent("#order")
		public void on(String order) {
			charged.add(order);
		}

	}

	static class TwoListeners {

		@Bean
		static Paid stripe() {
			return new Paid();
		}

		@Bean
		static Paid adyen() {
			return new Paid();
		}

	}

	static class ScopedGateway {

		private final String name;

		ScopedGateway(String name) {
			this.name = name;
		}

		public String getName() {
			return this.name;
		}

		@Idempotent(key = "#order", scope = "target.name")
		public String pay(String order) {
			charged.add(this.name);
			return this.name + " " + order;
		}

		@Idempotent("{target.name, #order}")
		public String refund(String order) {
			charged.add(this.name);
			return this.name + " -" + order;
		}

	}

	static class ScopedGateways {

		@Bean
		static ScopedGateway stripe() {
			return new ScopedGateway("stripe");
		}

		@Bean
		static ScopedGateway adyen() {
			return new ScopedGateway("adyen");
		}

	}

	static class NamedGateway extends Gateway {

		NamedGateway(String name) {
			super(name);
		}

		@Override
		@Idempotent(key = "#order", operation = "pay")
		public String pay(String order) {
			return super.pay(order);
		}

		@Idempotent(header = "Token", token = true)
		public String redeem(String order) {
			return super.pay(order);
		}

	}

	static class NamedGateways {

		@Bean
		static NamedGateway stripe() {
			return new NamedGateway("stripe");
		}

		@Bean
		static NamedGateway adyen() {
			return new NamedGateway("adyen");
		}

	}

	static class Prototype {

		@Bean
		@Scope("prototype")
		static Gateway stripe() {
			return new Gateway("stripe");
		}

	}

	static class Adyen extends Gateway {

		Adyen() {
			super("adyen");
		}

	}

	static class OtherClasses {

		@Bean
		static Gateway stripe() {
			return new Gateway("stripe");
		}

		@Bean
		@Lazy
		static Gateway adyen() {
			return new Adyen();
		}

	}

	static class OneBeanTwice {

		@Bean(name = { "stripe", "alias" })
		static Gateway stripe() {
			return new Gateway("stripe");
		}

		@Bean
		static Gateway adyen(Gateway stripe) {
			return stripe;
		}

	}

}
