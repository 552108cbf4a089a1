package io.idempotency.web;

import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** Controllers that inherit their handlers. */
class InheritedHandlerTests {

	private final WebApplicationContext context = WebMvcAdapterSetup.start(Orders.class, Invoices.class, Beans.class);

	@AfterEach
	void stop() {
		((ConfigurableApplicationContext) this.context).close();
	}

	@Test
	void eachHasACallAndAResultOfItsOwn() throws Exception {
		for (String expected : new String[] { "order 1 with invoice 1", "order 1 with invoice 1" }) {
			assertThat(WebMvcAdapterSetup.client(this.context)
				.perform(MockMvcRequestBuilders.post("/orders/create").header("Idempotency-Key", "k1"))
				.andReturn()
				.getResponse()
				.getContentAsString()).isEqualTo(expected);
		}
		assertThat(this.context.getBean(FaultyStore.class).verbs).filteredOn((verb) -> verb.startsWith("complete"))
			.containsExactly("complete RESULT", "complete RESULT");
		assertThat(this.context.getBean(Invoices.class).runs()).isOne();
	}

	/** It is the answer that is kept, with its status, not the result of a method. */
	@Test
	void doorOfABeanThatIsDeclaredByItsSupertypeIsItsOwn() throws Exception {
		for (int i = 0; i < 2; i++) {
			MockHttpServletResponse answer = WebMvcAdapterSetup.client(this.context)
				.perform(MockMvcRequestBuilders.post("/declared").header("Idempotency-Key", "k1"))
				.andReturn()
				.getResponse();
			assertThat(answer.getContentAsString()).isEqualTo("paid");
			assertThat(answer.getHeader("X-Made")).isEqualTo("yes");
		}
		assertThat(this.context.getBean(Made.class).runs()).isOne();
	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		/** Spring maps it before it knows what is made. */
		@Bean
		@Lazy
		Declared declared() {
			return new Made();
		}

	}

	@RestController
	static class Declared {

		@Idempotent
		@PostMapping("/declared")
		public String pay(HttpServletResponse answer) {
			answer.setHeader("X-Made", "yes");
			return "paid";
		}

	}

	static class Made extends Declared {

		private int runs;

		@Override
		public String pay(HttpServletResponse answer) {
			this.runs++;
			return super.pay(answer);
		}

		int runs() {
			return this.runs;
		}

	}

	abstract static class Crud {

		private int runs;

		@Idempotent
		@PostMapping("/create")
		public String create() {
			this.runs++;
			return made(this.runs);
		}

		int runs() {
			return this.runs;
		}

		abstract String made(int run);

	}

	@RestController
	@RequestMapping("/orders")
	static class Orders extends Crud {

		@Autowired
		private Invoices invoices;

		@Override
		String made(int run) {
			return "order " + run + " with " + this.invoices.create();
		}

	}

	@RestController
	@RequestMapping("/invoices")
	static class Invoices extends Crud {

		@Override
		String made(int run) {
			return "invoice " + run;
		}

	}

}
