package io.idempotency.interceptor;

import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Beans whose class nobody has written: clients, repositories, lambdas. Their operations
 * have the names of their own interfaces.
 */
class GeneratedBeanTests {

	private static String operation(AnnotationConfigApplicationContext context) {
		return context.getBean(TestStore.class).lastClaim().key().operation();
	}

	@Test
	void proxiesThatInheritOneMethodDoNotShareIt() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Clients.class)) {
			assertThat(context.getBean(Acme.class).send("7")).isEqualTo("acme 7");
			assertThat(operation(context)).isEqualTo(Acme.class.getName() + ".send(java.lang.String)");
			assertThat(context.getBean(Globex.class).send("7")).isEqualTo("globex 7");
			assertThat(operation(context)).isEqualTo(Globex.class.getName() + ".send(java.lang.String)");
			assertThat(context.getBean(Lambda.class).send("7")).isEqualTo("lambda 7");
			assertThat(operation(context)).isEqualTo(Lambda.class.getName() + ".send(java.lang.String)");
			assertThat(context.getBean(Acme.class).send("7")).isEqualTo("acme 7");
		}
	}

	@Test
	void repositoriesOfOneClassDoNotShareTheirQueries() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Repositories.class)) {
			Orders orders = context.getBean(Orders.class);
			Invoices invoices = context.getBean(Invoices.class);
			assertThat(orders.close("42")).isEqualTo("orders close 42 #1");
			assertThat(operation(context)).isEqualTo(Orders.class.getName() + ".close(java.lang.String)");
			assertThat(invoices.close("42")).isEqualTo("invoices close 42 #1");
			assertThat(orders.close("42")).isEqualTo("orders close 42 #1");
			assertThat(invoices.find("42")).as("of the class, unguarded").isEqualTo("found 42");
		}
	}

	@Test
	void theAnnotationOfARepositoryItselfHoldsForWhatItsClassDoes() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(AnnotatedRepository.class)) {
			Payments payments = context.getBean(Payments.class);
			assertThat(payments.close("42")).isEqualTo("payments close 42 #1");
			assertThat(payments.close("42")).isEqualTo("payments close 42 #1");
			assertThat(payments.find("42")).isEqualTo("found 42");
			assertThat(operation(context)).isEqualTo(Payments.class.getName() + ".find(java.lang.String)");
		}
	}

	@Test
	void whatARepositorySaysIsCheckedAtStart() {
		assertThat(Rejections.of(WrongRepository.class)).hasMessageContaining(Wrong.class.getName() + "#close(String)")
			.hasMessageContaining("it has no key source");
	}

	@Test
	void twoClientsOfOneInterfaceAreRejected() {
		IdempotencyConfigurationException rejection = Rejections.of(TwoClients.class);
		assertThat(rejection).hasMessageContaining("'east'").hasMessageContaining("'west'");
	}

	/** As those that Spring makes of an interface for HTTP, and gateways. */
	@Test
	void aProxyWithoutATargetIsGuarded() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Targetless.class)) {
			Recovering client = context.getBean(Recovering.class);
			assertThat(client.send("7")).isEqualTo("http send 7 #1");
			assertThat(client.send("7")).isEqualTo("http send 7 #1");
			assertThat(operation(context)).isEqualTo(Recovering.class.getName() + ".send(java.lang.String)");
			context.getBean(TestStore.class)
				.tombstone(io.idempotency.key.IdempotencyKey.of(Recovering.class.getName() + ".send(java.lang.String)",
						io.idempotency.key.Caller.GLOBAL, "8"));
			assertThat(client.send("8")).as("by its recover method").isEqualTo("http find 8 #2");
		}
	}

	interface PartnerApi {

		@Idempotent("#a0")
		String send(String order);

	}

	interface Acme extends PartnerApi {

	}

	interface Globex extends PartnerApi {

	}

	interface Lambda extends PartnerApi {

	}

	private static <T> T client(Class<T> type, String answer) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> method.getName().equals("send") ? answer + " " + arguments[0]
						: method.invoke(answer, arguments)));
	}

	static class Clients {

		@Bean
		static Acme acme() {
			return client(Acme.class, "acme");
		}

		@Bean
		static Globex globex() {
			return client(Globex.class, "globex");
		}

		@Bean
		static Lambda lambda() {
			return (order) -> "lambda " + order;
		}

	}

	static class TwoClients {

		@Bean
		static Acme east() {
			return client(Acme.class, "east");
		}

		@Bean
		static Acme west() {
			return client(Acme.class, "west");
		}

	}

	interface Repository {

		String find(String id);

	}

	/** The class behind all repositories, which knows nothing of their own methods. */
	static class CommonRepository implements Repository {

		@Override
		public String find(String id) {
			return "found " + id;
		}

	}

	interface Orders extends Repository {

		@Idempotent("#a0")
		String close(String id);

	}

	interface Invoices extends Repository {

		@Idempotent("#a0")
		String close(String id);

	}

	@Idempotent("#a0")
	interface Payments extends Repository {

		String close(String id);

	}

	interface Wrong extends Repository {

		@Idempotent
		String close(String id);

	}

	private static <T> T repository(Class<T> type, String name) {
		AtomicInteger runs = new AtomicInteger();
		ProxyFactory factory = new ProxyFactory();
		factory.setTarget(new CommonRepository());
		factory.setInterfaces(type);
		factory.addAdvice((MethodInterceptor) (invocation) -> invocation.getMethod().getName().equals("close")
				? name + " close " + invocation.getArguments()[0] + " #" + runs.incrementAndGet()
				: invocation.proceed());
		return type.cast(factory.getProxy());
	}

	static class Repositories {

		@Bean
		static Orders orders() {
			return repository(Orders.class, "orders");
		}

		@Bean
		static Invoices invoices() {
			return repository(Invoices.class, "invoices");
		}

	}

	static class AnnotatedRepository {

		@Bean
		static Payments payments() {
			return repository(Payments.class, "payments");
		}

	}

	static class WrongRepository {

		@Bean
		static Wrong wrong() {
			return repository(Wrong.class, "wrong");
		}

	}

	interface Recovering {

		@Idempotent(key = "#a0", recover = "find")
		String send(String order);

		String find(String order);

	}

	static class Targetless {

		@Bean
		static Recovering http() {
			AtomicInteger runs = new AtomicInteger();
			return ProxyFactory.getProxy(Recovering.class,
					(MethodInterceptor) (invocation) -> "http " + invocation.getMethod().getName() + " "
							+ invocation.getArguments()[0] + " #" + runs.incrementAndGet());
		}

	}

}
