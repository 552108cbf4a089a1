package io.idempotency.web;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.engine.IdempotencyEngine;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/** The first answer and its record, inside of what filters and clients do. */
class ClaimedResponseTests {

	private static final AtomicInteger runs = new AtomicInteger();

	private static CompletableFuture<String> future = new CompletableFuture<>();

	private WebApplicationContext context;

	private FaultyStore store;

	@BeforeEach
	void start() {
		runs.set(0);
		future = new CompletableFuture<>();
		this.context = WebMvcAdapterSetup.start(Payments.class);
		this.store = this.context.getBean(FaultyStore.class);
	}

	@AfterEach
	void stop() {
		((ConfigurableApplicationContext) this.context).close();
	}

	@Test
	void headersOfOuterFiltersAreFreshOnEveryAnswer() throws Exception {
		AtomicInteger requests = new AtomicInteger();
		Filter outer = (request, response, chain) -> {
			HttpServletResponse headers = (HttpServletResponse) response;
			headers.setHeader("X-Trace", "trace-" + requests.incrementAndGet());
			headers.setHeader("Vary", "Origin");
			chain.doFilter(request, response);
		};
		MockHttpServletResponse first = pay("/pay", outer);
		assertThat(first.getHeaders("X-Trace")).containsExactly("trace-1");
		assertThat(first.getHeaders("Vary")).containsExactly("Origin", "Accept");
		MockHttpServletResponse second = pay("/pay", outer);
		assertThat(second.getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(second.getHeaders("X-Trace")).containsExactly("trace-2");
		assertThat(second.getHeaders("Vary")).containsExactly("Origin", "Accept");
		assertThat(second.getHeaders("X-App")).containsExactly("payment-1");
	}

	@Test
	void answerIsNotReplayedBehindOneThatHasLeft() throws Exception {
		pay("/pay", (request, response, chain) -> chain.doFilter(request, response));
		MockHttpServletResponse second = pay("/pay", (request, response, chain) -> {
			response.getOutputStream().print("early");
			response.flushBuffer();
			chain.doFilter(request, response);
		});
		assertThat(second.getContentAsString()).isEqualTo("early");
		assertThat(runs).hasValue(1);
	}

	@Test
	void clientThatHangsUpDuringAnAnswerThatIsTooLargeFreesNothing() throws Exception {
		Filter hangsUp = (request, response, chain) -> chain.doFilter(request,
				new HangsUp((HttpServletResponse) response));
		pay("/large", hangsUp);
		assertThat(this.store.verbs).containsExactly("claim", "complete WITHOUT_RESULT");
		MockHttpServletResponse again = pay("/large", (request, response, chain) -> chain.doFilter(request, response));
		assertThat(again.getStatus()).isEqualTo(409);
		assertThat(again.getContentAsString()).contains("result-unavailable");
		assertThat(runs).hasValue(1);
	}

	@Test
	void letsTheLeaseExpireWhenADeferredResultTimesOut() throws Exception {
		MockMvc client = WebMvcAdapterSetup.client(this.context);
		timeOut(client, "/later");
		assertThat(detachedCalls()).isZero();
		assertThat(post(client, "/later").getResponse().getStatus()).isEqualTo(409);
		await().atMost(Duration.ofSeconds(30))
			.untilAsserted(() -> assertThat(post(client, "/later").getRequest().isAsyncStarted()).isTrue());
		assertThat(this.store.verbs).doesNotContain("renew", "release");
	}

	@Test
	void detachesAFutureThatContinuesAfterItsResponse() throws Exception {
		MockMvc client = WebMvcAdapterSetup.client(this.context);
		timeOut(client, "/future");
		assertThat(detachedCalls()).isOne();
		future.complete("too late");
		await().untilAsserted(() -> assertThat(this.store.verbs).contains("complete WITHOUT_RESULT"));
		assertThat(detachedCalls()).isZero();
	}

	/** Tomcat reports the end of some streams only as an error. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void endsAStreamWhenTheContainerReportsAnErrorOrATimeout(boolean timeout) throws Exception {
		MockMvc client = WebMvcAdapterSetup.client(this.context);
		MockAsyncContext async = (MockAsyncContext) post(client, "/events").getRequest().getAsyncContext();
		for (AsyncListener listener : async.getListeners()) {
			if (timeout) {
				listener.onTimeout(new AsyncEvent(async));
			}
			else {
				listener.onError(new AsyncEvent(async, new IOException("Connection reset by peer")));
			}
		}
		await().untilAsserted(() -> assertThat(this.store.verbs).contains("complete WITHOUT_RESULT"));
		assertThat(detachedCalls()).isZero();
	}

	private int detachedCalls() {
		return this.context.getBean(IdempotencyEngine.class).load().detachedCalls();
	}

	private static void timeOut(MockMvc client, String path) throws Exception {
		MvcResult started = post(client, path);
		MockAsyncContext async = (MockAsyncContext) started.getRequest().getAsyncContext();
		for (AsyncListener listener : async.getListeners()) {
			listener.onTimeout(new AsyncEvent(async));
		}
		assertThat(client.perform(MockMvcRequestBuilders.asyncDispatch(started)).andReturn().getResponse().getStatus())
			.isEqualTo(503);
	}

	private static MvcResult post(MockMvc client, String path) throws Exception {
		return client.perform(MockMvcRequestBuilders.post(path).header("Idempotency-Key", "k1")).andReturn();
	}

	/** The work is done, whatever the application's own response throws. */
	@Test
	void responseThatThrowsAnErrorFreesNothingAndLeavesNothingOpen() throws Exception {
		Filter broken = (request, response, chain) -> chain.doFilter(request,
				new HttpServletResponseWrapper((HttpServletResponse) response) {

					@Override
					public Collection<String> getHeaderNames() {
						if (runs.get() > 0) {
							throw new NoClassDefFoundError("of the application");
						}
						return super.getHeaderNames();
					}

				});
		assertThat(catchThrowable(() -> pay("/pay", broken))).isNull();
		assertThat(this.store.verbs).containsExactly("claim", "complete WITHOUT_RESULT");
	}

	private MockHttpServletResponse pay(String path, Filter outer) throws Exception {
		return MockMvcBuilders.webAppContextSetup(this.context)
			.addFilters(outer, this.context.getBean(IdempotencyFilter.class))
			.build()
			.perform(MockMvcRequestBuilders.post(path).header("Idempotency-Key", "k1"))
			.andReturn()
			.getResponse();
	}

	@RestController
	static class Payments {

		@Idempotent
		@PostMapping("/pay")
		String pay(HttpServletResponse response) {
			response.setHeader("X-App", "payment-" + runs.incrementAndGet());
			response.addHeader("Vary", "Accept");
			return "paid";
		}

		@Idempotent
		@PostMapping("/future")
		CompletableFuture<String> future() {
			return future;
		}

		@Idempotent(lease = "2s")
		@PostMapping("/later")
		DeferredResult<String> later() {
			return new DeferredResult<>();
		}

		@Idempotent
		@PostMapping("/events")
		SseEmitter events() {
			return new SseEmitter();
		}

		@Idempotent
		@PostMapping("/large")
		void large(HttpServletResponse response) throws IOException {
			runs.incrementAndGet();
			for (int i = 0; i < 4; i++) {
				response.getOutputStream().write(new byte[600]);
				response.flushBuffer();
			}
		}

	}

	/** The connection is reset as soon as something is written. */
	private static final class HangsUp extends HttpServletResponseWrapper {

		HangsUp(HttpServletResponse response) {
			super(response);
		}

		@Override
		public ServletOutputStream getOutputStream() {
			return new ServletOutputStream() {

				@Override
				public void write(int value) throws IOException {
					throw new IOException("Connection reset by peer");
				}

				@Override
				public boolean isReady() {
					return true;
				}

				@Override
				public void setWriteListener(WriteListener listener) {
					throw new UnsupportedOperationException();
				}

			};
		}

	}

}
