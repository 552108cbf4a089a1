package io.idempotency.it.webflux;

import java.io.IOException;
import java.net.SocketException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.server.WebFilter;

import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Each buffer that is made of a request or for its answer is released, whichever way the
 * call goes. The allocator counts the bytes, so that nothing depends on the garbage
 * collector.
 */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@Import({ PassedAnswers.class, BufferTests.Counting.class })
class BufferTests {

	private static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(false, true);

	private static final AtomicInteger MADE = new AtomicInteger();

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	private void send(String path, String headers, String body) throws IOException {
		try (RawClient client = new RawClient(this.port)) {
			client.send(path, this.key, "Connection: close\r\n" + headers, body.length(), body).awaitEnd();
		}
	}

	private static void assertThatNothingIsHeld() {
		assertThat(MADE.getAndSet(0)).isPositive();
		await().untilAsserted(
				() -> assertThat(ALLOCATOR.metric().usedHeapMemory() + ALLOCATOR.metric().usedDirectMemory()).isZero());
	}

	/** First, replayed, and rejected for another body. */
	@ParameterizedTest
	@CsvSource(quoteCharacter = '\0', delimiter = '|',
			value = { "/orders | {\"item\":1}", "/large | {}", "/broken-flux | {}", "/written-and-failed | {}",
					"/committed | {}", "/no-content | {}", "/blocking | {}", "/late-body | {}" })
	void ofAnswer(String path, String body) throws Exception {
		OrdersController.GATES.computeIfAbsent(this.key, (id) -> Sinks.empty()).tryEmitEmpty();
		for (String sent : new String[] { body, body, "{\"other\":2}", "{\"half" }) {
			send(path, "X-Gate: " + this.key + "\r\n", sent);
		}
		assertThatNothingIsHeld();
	}

	@Test
	void ofBodyThatIsTooLarge() throws Exception {
		try {
			send("/orders", "", "x".repeat((1 << 20) + 1));
		}
		catch (SocketException closed) {
			// The server may close the connection while the client is still sending.
		}
		assertThatNothingIsHeld();
	}

	@Test
	void ofBodyThatBreaksOff() throws Exception {
		try (RawClient client = new RawClient(this.port)) {
			client.send("/orders", this.key, "", 100, "{\"half\":");
			await().until(() -> MADE.get() > 0);
		}
		assertThatNothingIsHeld();
	}

	@ParameterizedTest
	@CsvSource({ "/passed/array", "/passed/body", "/passed/stream" })
	void ofAnswerWhoseClientHangsUp(String path) throws Exception {
		try (RawClient client = new RawClient(this.port)) {
			client.send(path, this.key, "", 2, "{}").awaitAnswer();
			await().until(() -> {
				client.takeAnswer();
				return runs("gate " + this.key) == 1;
			});
		}
		await().until(() -> runs("closed " + this.key) == 1);
		OrdersController.GATES.get(this.key).tryEmitEmpty();
		assertThatNothingIsHeld();
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Counting {

		@Bean
		@Order(Ordered.HIGHEST_PRECEDENCE)
		WebFilter counting() {
			DataBufferFactory factory = new NettyDataBufferFactory(ALLOCATOR);
			return (exchange,
					chain) -> chain.filter(exchange.mutate()
						.request(request(exchange.getRequest(), factory))
						.response(response(exchange.getResponse(), factory))
						.build());
		}

		private static ServerHttpRequest request(ServerHttpRequest request, DataBufferFactory factory) {
			return new ServerHttpRequestDecorator(request) {

				@Override
				public Flux<DataBuffer> getBody() {
					return super.getBody().map((buffer) -> {
						MADE.incrementAndGet();
						DataBuffer counted = factory.allocateBuffer(buffer.readableByteCount()).write(buffer);
						DataBufferUtils.release(buffer);
						return counted;
					});
				}

			};
		}

		private static ServerHttpResponse response(ServerHttpResponse response, DataBufferFactory factory) {
			return new ServerHttpResponseDecorator(response) {

				@Override
				public DataBufferFactory bufferFactory() {
					MADE.incrementAndGet();
					return factory;
				}

			};
		}

	}

}
