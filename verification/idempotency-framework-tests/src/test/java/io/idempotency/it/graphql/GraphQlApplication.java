package io.idempotency.it.graphql;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import graphql.schema.DataFetchingEnvironment;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.graphql.data.method.annotation.Argument;
import org.springframework.graphql.data.method.annotation.MutationMapping;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.stereotype.Controller;

/** A shop whose mutations are guarded. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(GraphQlApplication.Cart.class)
class GraphQlApplication {

	record OrderInput(String key, String sku, int quantity) {
	}

	@Controller
	static class Cart {

		static final AtomicInteger additions = new AtomicInteger();

		static volatile CountDownLatch entered = new CountDownLatch(1);

		static volatile CountDownLatch gate = new CountDownLatch(1);

		@QueryMapping
		public int additions() {
			return additions.get();
		}

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public String addItem(@Argument String sku, @Argument int quantity) {
			return quantity + " " + sku + ", addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(key = "#input.key", fingerprint = "{#input.sku, #input.quantity}")
		public String placeOrder(@Argument OrderInput input) {
			return input.sku() + ", addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public String remove(DataFetchingEnvironment environment) {
			return environment.getArgument("sku") + ", addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(key = "#sku", mode = IdempotencyMode.REJECT)
		public String once(@Argument String sku) {
			return sku + ", addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public String slow() throws InterruptedException {
			entered.countDown();
			gate.await();
			return "addition " + additions.incrementAndGet();
		}

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public String fail() {
			throw new IllegalStateException("The work failed in addition " + additions.incrementAndGet());
		}

	}

}
