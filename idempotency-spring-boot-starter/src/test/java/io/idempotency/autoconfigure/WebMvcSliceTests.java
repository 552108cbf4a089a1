package io.idempotency.autoconfigure;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.autoconfigure.web.servlet.WebMvcTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.test.web.servlet.request.SecurityMockMvcRequestPostProcessors.csrf;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.header;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * A slice has the filter and a store in memory, whatever the application's own store is.
 */
@WebMvcTest(controllers = OrderController.class, properties = "idempotency.store=redis")
@ContextConfiguration(classes = WebMvcSliceTests.Application.class)
@WithMockUser
class WebMvcSliceTests {

	@Autowired
	private MockMvc mvc;

	@Autowired
	private OrderController controller;

	@Autowired
	private IdempotencyStore store;

	@Test
	void requestThatComesTwiceHasItsEffectOnceAndGetsTheSameAnswer() throws Exception {
		MvcResult first = this.mvc.perform(order()).andExpect(status().isCreated()).andReturn();
		MvcResult second = this.mvc.perform(order())
			.andExpect(status().isCreated())
			.andExpect(header().string("Idempotent-Replayed", "true"))
			.andReturn();
		assertThat(second.getResponse().getContentAsByteArray()).isEqualTo(first.getResponse().getContentAsByteArray());
		assertThat(this.controller.runs()).isEqualTo(1);
		assertThat(this.store).isInstanceOf(MemoryIdempotencyStore.class);
	}

	private static MockHttpServletRequestBuilder order() {
		return post("/orders").with(csrf())
			.header("Idempotency-Key", "k1")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"sku\":\"book\"}");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(OrderController.class)
	static class Application {

	}

}
