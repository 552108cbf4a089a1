package io.idempotency.it;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.util.AopTestUtils;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.test.web.servlet.request.SecurityMockMvcRequestPostProcessors.csrf;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.header;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * A slice has the filter and a store in memory, whatever the application's own store is.
 */
@InMvcSlice
@TestPropertySource(properties = "idempotency.store=redis")
@ContextConfiguration(classes = MvcSliceTests.Application.class)
@WithMockUser
class MvcSliceTests {

	@Test
	void requestThatComesTwiceHasItsEffectOnceAndGetsTheSameAnswer(@Autowired MockMvc mvc,
			@Autowired OrderController controller, @Autowired IdempotencyStore store) throws Exception {
		MvcResult first = mvc.perform(order()).andExpect(status().isOk()).andReturn();
		MvcResult second = mvc.perform(order())
			.andExpect(status().isOk())
			.andExpect(header().string("Idempotent-Replayed", "true"))
			.andReturn();
		assertThat(second.getResponse().getContentAsByteArray()).isEqualTo(first.getResponse().getContentAsByteArray())
			.isNotEmpty();
		OrderController target = AopTestUtils.getTargetObject(controller);
		assertThat(target.runs).hasValue(1);
		assertThat(store).isInstanceOf(MemoryIdempotencyStore.class);
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

	@RestController
	static class OrderController {

		final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/orders")
		@Idempotent
		String place(@RequestBody String order) {
			return order + " in run " + this.runs.incrementAndGet();
		}

	}

}
