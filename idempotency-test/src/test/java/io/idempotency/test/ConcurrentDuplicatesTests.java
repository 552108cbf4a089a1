package io.idempotency.test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import com.sun.net.httpserver.HttpServer;
import io.idempotency.IdempotencyInProgressException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ConcurrentDuplicatesTests {

	@Test
	void valuesComeInTheOrderOfTheirIndex() {
		ConcurrentDuplicates.Result<Integer> result = ConcurrentDuplicates.of(32).run((index) -> index * 10);
		assertThat(result.values())
			.containsExactlyElementsOf(IntStream.range(0, 32).map((index) -> index * 10).boxed().toList());
		assertThat(result.failures()).isEmpty();
	}

	@Test
	void allCallsAreUnderWayAtOnce() {
		CyclicBarrier everyone = new CyclicBarrier(64);
		List<Integer> arrivals = ConcurrentDuplicates.of(64)
			.run((index) -> everyone.await(1, TimeUnit.MINUTES))
			.valuesOrFail();
		assertThat(arrivals).hasSize(64).doesNotHaveDuplicates();
	}

	@Test
	void failuresStandBesideValues() {
		ConcurrentDuplicates.Result<Integer> result = ConcurrentDuplicates.of(4).run((index) -> {
			if (index % 2 == 1) {
				throw new IOException("call " + index);
			}
			return index;
		});
		assertThat(result.values()).containsExactly(0, 2);
		assertThat(result.failures()).extracting(Throwable::getMessage).containsExactly("call 1", "call 3");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(result::valuesOrFail)
			.withMessageContaining("2 of the calls failed")
			.withMessageContaining("call 1")
			.satisfies((error) -> assertThat(error.getSuppressed()).hasSize(2));
	}

	@Test
	void errorsAreFailuresToo() {
		ConcurrentDuplicates.Result<Object> result = ConcurrentDuplicates.of(1).run((index) -> {
			throw new AssertionError("no");
		});
		assertThat(result.failures()).singleElement().isInstanceOf(AssertionError.class);
	}

	@Test
	void eachConsumerDeliversEveryMessage() {
		Map<String, Integer> deliveries = new ConcurrentHashMap<>();
		List<Integer> redeliveries = ConcurrentDuplicates.of(8)
			.deliver(List.of("a", "b", "c"), (message) -> deliveries.merge(message, 1, Integer::sum))
			.valuesOrFail();
		assertThat(deliveries).isEqualTo(Map.of("a", 8, "b", 8, "c", 8));
		assertThat(redeliveries).hasSize(8).containsOnly(0);
	}

	@Test
	void messageThatStillRunsElsewhereIsDeliveredAgainAfterTheOthers() {
		List<String> deliveries = new CopyOnWriteArrayList<>();
		List<Integer> redeliveries = ConcurrentDuplicates.of(1).deliver(List.of("a", "b"), (message) -> {
			deliveries.add(message);
			if (deliveries.size() == 1) {
				throw new IdempotencyInProgressException("orders", Duration.ofSeconds(1));
			}
		}).valuesOrFail();
		assertThat(redeliveries).containsExactly(1);
		assertThat(deliveries).hasSize(3).containsOnlyOnce(deliveries.get(1)).endsWith(deliveries.get(0));
	}

	@Test
	void listenerThatFailsEndsItsConsumer() {
		ConcurrentDuplicates.Result<Integer> result = ConcurrentDuplicates.of(2)
			.deliver(List.of("a", "b"), (message) -> {
				throw new IOException(message);
			});
		assertThat(result.values()).isEmpty();
		assertThat(result.failures()).hasSize(2).hasOnlyElementsOfType(IOException.class);
	}

	@Test
	void stormNeedsACall() {
		assertThatIllegalArgumentException().isThrownBy(() -> ConcurrentDuplicates.of(0));
	}

	@Test
	void httpStormSendsEveryDuplicate() throws IOException {
		AtomicInteger requests = new AtomicInteger();
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
		ExecutorService threads = Executors.newCachedThreadPool();
		server.setExecutor(threads);
		server.createContext("/", (exchange) -> {
			requests.incrementAndGet();
			byte[] body = exchange.getRequestBody().readAllBytes();
			exchange.sendResponseHeaders(201, body.length);
			exchange.getResponseBody().write(body);
			exchange.close();
		});
		server.start();
		try {
			URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/orders");
			HttpRequest request = HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString("hello")).build();
			List<HttpResponse<byte[]>> responses = ConcurrentDuplicates.http(16, request).valuesOrFail();
			assertThat(responses).hasSize(16)
				.allSatisfy((response) -> assertThat(response.statusCode()).isEqualTo(201))
				.allSatisfy(
						(response) -> assertThat(response.body()).asString(StandardCharsets.UTF_8).isEqualTo("hello"));
			assertThat(requests).hasValue(16);
		}
		finally {
			server.stop(0);
			threads.shutdownNow();
		}
	}

}
