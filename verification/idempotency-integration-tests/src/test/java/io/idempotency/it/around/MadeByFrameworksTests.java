package io.idempotency.it.around;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.annotation.Id;
import org.springframework.data.keyvalue.core.KeyValueOperations;
import org.springframework.data.keyvalue.core.KeyValueTemplate;
import org.springframework.data.keyvalue.repository.query.KeyValuePartTreeQuery;
import org.springframework.data.keyvalue.repository.query.SpelQueryCreator;
import org.springframework.data.keyvalue.repository.support.KeyValueRepositoryFactoryBean;
import org.springframework.data.map.MapKeyValueAdapter;
import org.springframework.data.repository.Repository;
import org.springframework.http.HttpStatusCode;
import org.springframework.mock.http.client.MockClientHttpResponse;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.service.annotation.PostExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Beans that a framework makes of an interface. All repositories of Spring Data have one
 * class, and an HTTP interface has nothing behind its proxy.
 */
class MadeByFrameworksTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	@Test
	void methodsOfTwoRepositoriesHaveKeysOfTheirOwn() {
		this.runner.withUserConfiguration(Repositories.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			Invoices invoices = context.getBean(Invoices.class);
			orders.save(new Order("42", 0));
			invoices.save(new Invoice("42", 0));
			assertThat(orders.close("42")).isEqualTo(1);
			assertThat(invoices.close("42")).as("of another repository").isEqualTo(1);
			assertThat(orders.close("42")).as("a duplicate").isEqualTo(1);
			assertThat(orders.findById("42")).isEqualTo(new Order("42", 1));
			assertThat(invoices.findById("42")).isEqualTo(new Invoice("42", 1));
		});
	}

	@Test
	void httpInterfaceIsGuarded() {
		this.runner.withUserConfiguration(Clients.class).run((context) -> {
			Partner partner = context.getBean(Partner.class);
			assertThat(partner.pay("42")).isEqualTo("receipt 1");
			assertThat(partner.pay("42")).isEqualTo("receipt 1");
			assertThat(partner.pay("43")).isEqualTo("receipt 2");
		});
	}

	record Order(@Id String id, int closed) {
	}

	record Invoice(@Id String id, int closed) {
	}

	interface Orders extends Repository<Order, String> {

		Order save(Order order);

		@Nullable Order findById(String id);

		@Idempotent("#a0")
		default int close(String id) {
			Order order = findById(id);
			return (order != null) ? save(new Order(id, order.closed() + 1)).closed() : 0;
		}

	}

	interface Invoices extends Repository<Invoice, String> {

		Invoice save(Invoice invoice);

		@Nullable Invoice findById(String id);

		@Idempotent("#a0")
		default int close(String id) {
			Invoice invoice = findById(id);
			return (invoice != null) ? save(new Invoice(id, invoice.closed() + 1)).closed() : 0;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Repositories {

		@Bean
		static KeyValueOperations operations() {
			return new KeyValueTemplate(new MapKeyValueAdapter());
		}

		@Bean
		static KeyValueRepositoryFactoryBean<Orders, Order, String> orders(KeyValueOperations operations) {
			return made(Orders.class, operations);
		}

		@Bean
		static KeyValueRepositoryFactoryBean<Invoices, Invoice, String> invoices(KeyValueOperations operations) {
			return made(Invoices.class, operations);
		}

		private static <R extends Repository<E, String>, E> KeyValueRepositoryFactoryBean<R, E, String> made(
				Class<R> type, KeyValueOperations operations) {
			KeyValueRepositoryFactoryBean<R, E, String> factory = new KeyValueRepositoryFactoryBean<>(type);
			factory.setKeyValueOperations(operations);
			factory.setQueryCreator(SpelQueryCreator.class);
			factory.setQueryType(KeyValuePartTreeQuery.class);
			return factory;
		}

	}

	interface Partner {

		@PostExchange("/payments/{order}")
		@Idempotent("#a0")
		String pay(@org.springframework.web.bind.annotation.PathVariable("order") String order);

	}

	@Configuration(proxyBeanMethods = false)
	static class Clients {

		@Bean
		static Partner partner() {
			AtomicInteger sent = new AtomicInteger();
			RestClient client = RestClient.builder()
				.baseUrl("http://partner")
				.requestInterceptor((request, body, execution) -> new MockClientHttpResponse(
						("receipt " + sent.incrementAndGet()).getBytes(), HttpStatusCode.valueOf(200)))
				.build();
			return HttpServiceProxyFactory.builderFor(RestClientAdapter.create(client))
				.build()
				.createClient(Partner.class);
		}

	}

}
