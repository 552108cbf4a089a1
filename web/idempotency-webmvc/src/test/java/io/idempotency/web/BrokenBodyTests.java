package io.idempotency.web;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

import static org.assertj.core.api.Assertions.assertThat;

/** A body that ends early or is badly framed, read by the guard and nobody else. */
class BrokenBodyTests {

	private static final AtomicInteger runs = new AtomicInteger();

	private WebApplicationContext context;

	private MockMvc client;

	@BeforeEach
	void start() {
		runs.set(0);
		this.context = WebMvcAdapterSetup.start(Payments.class, Fields.class);
		this.client = WebMvcAdapterSetup.client(this.context);
	}

	@AfterEach
	void stop() {
		((ConfigurableApplicationContext) this.context).close();
	}

	@ParameterizedTest
	@CsvSource({ "/pay, application/json", "/pay, text/plain", "/pay, application/x-www-form-urlencoded",
			"/pay, multipart/form-data", "/by-body, application/json", "/by-body, application/x-www-form-urlencoded" })
	void bodyThatCannotBeReadIsTheClientsFaultAndUsesNoKey(String path, String contentType) throws Exception {
		MvcResult broken = this.client.perform((servletContext) -> broken(path, contentType)).andReturn();
		assertThat(broken.getResponse().getStatus()).isEqualTo(400);
		assertThat(broken.getResolvedException()).isInstanceOf(HttpMessageNotReadableException.class)
			.hasRootCauseMessage("broken chunk");
		MvcResult whole = this.client
			.perform(MockMvcRequestBuilders.post(path)
				.header("Idempotency-Key", "k1")
				.contentType("application/json")
				.content("{\"key\":\"k1\"}"))
			.andReturn();
		assertThat(whole.getResponse().getContentAsString()).isEqualTo("paid");
	}

	/** Over HTTP/2 the end of the stream ends a body, whatever its length should be. */
	@ParameterizedTest
	@CsvSource({ "/read, ''", "/read, {", "/pay, {", "/by-body, {", "/read-later, {" })
	void bodyThatIsShorterThanAnnouncedIsNotStored(String path, String body) throws Exception {
		MvcResult half = this.client.perform((servletContext) -> announced(path, body, 2)).andReturn();
		assertThat(half.getResponse().getStatus()).isEqualTo(400);
		MvcResult whole = this.client.perform((servletContext) -> announced(path, "{\"key\":\"k1\"}", 12)).andReturn();
		assertThat(whole.getResponse().getContentAsString()).isEqualTo("paid");
		assertThat(whole.getResponse().getHeader("Idempotent-Replayed")).isNull();
	}

	@Test
	void formThatTheContainerReadIsNotShorterThanAnnounced() throws Exception {
		MockHttpServletRequest form = announced("/pay", "", 5);
		form.setContentType("application/x-www-form-urlencoded");
		form.addParameter("sku", "1");
		assertThat(this.client.perform((servletContext) -> form).andReturn().getResponse().getContentAsString())
			.isEqualTo("paid");
	}

	private static MockHttpServletRequest announced(String path, String body, int length) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", path) {

			@Override
			public int getContentLength() {
				return length;
			}

			@Override
			public long getContentLengthLong() {
				return length;
			}

		};
		request.setProtocol("HTTP/2.0");
		request.addHeader("Idempotency-Key", "k1");
		request.setContentType("application/json");
		request.setContent(body.getBytes(StandardCharsets.UTF_8));
		return request;
	}

	/**
	 * So Tomcat does when a form or a part breaks off, and calls the handler all the
	 * same.
	 */
	@Test
	void requestThatTheContainerHasRejectedNeitherRunsNorUsesItsKey() throws Exception {
		MockMvc rejecting = MockMvcBuilders.webAppContextSetup(this.context).addFilters((request, response, chain) -> {
			((HttpServletResponse) response).sendError(400);
			chain.doFilter(request, response);
		}, this.context.getBean(IdempotencyFilter.class)).build();
		MvcResult rejected = rejecting.perform(MockMvcRequestBuilders.post("/pay").header("Idempotency-Key", "k1"))
			.andReturn();
		assertThat(rejected.getResponse().getStatus()).isEqualTo(400);
		assertThat(runs).hasValue(0);
		MvcResult whole = this.client
			.perform(MockMvcRequestBuilders.post("/pay").header("Idempotency-Key", "k1").param("sku", "1"))
			.andReturn();
		assertThat(whole.getResponse().getContentAsString()).isEqualTo("paid");
		assertThat(runs).hasValue(1);
	}

	/**
	 * Some containers tell whoever asks for a parameter that the query cannot be read.
	 * The work is done by then.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "/pay", "/form" })
	void requestThatCannotBeReadWhenItsHandlerHasReturnedIsDone(String path) throws Exception {
		assertThat(thrownFor(unparsed(path, true))).isNotNull();
		MvcResult second = this.client.perform((servletContext) -> unparsed(path, false)).andReturn();
		assertThat(second.getResponse().getStatus()).isEqualTo(409);
		assertThat(second.getResponse().getContentAsString()).contains("result-unavailable");
		assertThat(runs).hasValue(1);
	}

	/** The query is not the body: whoever swallows the failure has read it all. */
	@Test
	void rejectionOfTheHandlerIsAnAnswerAlsoWhereTheQueryCannotBeRead() throws Exception {
		for (boolean replayed : new boolean[] { false, true }) {
			MvcResult declined = this.client.perform((servletContext) -> unparsed("/decline", true)).andReturn();
			assertThat(declined.getResponse().getStatus()).isEqualTo(402);
			assertThat(declined.getResponse().getHeader("Idempotent-Replayed")).isEqualTo(replayed ? "true" : null);
		}
		assertThat(runs).hasValue(1);
	}

	private @Nullable Exception thrownFor(MockHttpServletRequest request) {
		try {
			this.client.perform((servletContext) -> request);
			return null;
		}
		catch (Exception ex) {
			return ex;
		}
	}

	private static MockHttpServletRequest unparsed(String path, boolean inspected) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", path) {

			@Override
			public @Nullable String getParameter(String name) {
				if (inspected && runs.get() > 0) {
					throw new IllegalStateException("the query cannot be read");
				}
				return null;
			}

		};
		request.addHeader("Idempotency-Key", "k1");
		request.setContentType(path.equals("/form") ? "application/x-www-form-urlencoded" : "application/json");
		request.setContent("{}".getBytes(StandardCharsets.UTF_8));
		return request;
	}

	private static MockHttpServletRequest broken(String path, String contentType) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", path) {

			@Override
			public ServletInputStream getInputStream() {
				return new BrokenStream();
			}

			@Override
			public Collection<Part> getParts() throws IOException {
				throw new IOException("broken chunk");
			}

		};
		request.addHeader("Idempotency-Key", "k1");
		request.setContentType(contentType);
		return request;
	}

	/** Fails as a container does whose client breaks off. */
	private static final class BrokenStream extends ServletInputStream {

		@Override
		public int read() throws IOException {
			throw new IOException("broken chunk");
		}

		@Override
		public boolean isFinished() {
			return false;
		}

		@Override
		public boolean isReady() {
			return true;
		}

		@Override
		public void setReadListener(ReadListener listener) {
			throw new UnsupportedOperationException();
		}

	}

	/** Asks for a parameter when the answer is written. */
	@ControllerAdvice
	static class Fields implements ResponseBodyAdvice<Object> {

		@Override
		public boolean supports(MethodParameter type, Class<? extends HttpMessageConverter<?>> converter) {
			return type.hasMethodAnnotation(Idempotent.class);
		}

		@Override
		public @Nullable Object beforeBodyWrite(@Nullable Object body, MethodParameter type, MediaType contentType,
				Class<? extends HttpMessageConverter<?>> converter, ServerHttpRequest request,
				ServerHttpResponse response) {
			((ServletServerHttpRequest) request).getServletRequest().getParameter("fields");
			return body;
		}

	}

	@RestController
	static class Payments {

		@PostMapping("/form")
		@Idempotent(fingerprint = "none")
		String form() {
			runs.incrementAndGet();
			return "paid";
		}

		@PostMapping("/decline")
		@Idempotent
		void decline(HttpServletRequest request, HttpServletResponse response) {
			runs.incrementAndGet();
			try {
				request.getParameter("note");
			}
			catch (IllegalStateException ex) {
				response.setStatus(HttpServletResponse.SC_PAYMENT_REQUIRED);
			}
		}

		@PostMapping("/pay")
		@Idempotent
		public String pay() {
			runs.incrementAndGet();
			return "paid";
		}

		@PostMapping("/read")
		@Idempotent(fingerprint = "none")
		public String read(@RequestBody(required = false) @Nullable String body) {
			return "paid";
		}

		/** Does not let the failure through. */
		@PostMapping("/read-later")
		@Idempotent(fingerprint = "none")
		public ResponseEntity<String> readLater(InputStream body) {
			try {
				body.readAllBytes();
				return ResponseEntity.ok("paid");
			}
			catch (IOException ex) {
				return ResponseEntity.badRequest().build();
			}
		}

		@PostMapping("/by-body")
		@Idempotent(body = "/key")
		String byBody() {
			return "paid";
		}

	}

}
