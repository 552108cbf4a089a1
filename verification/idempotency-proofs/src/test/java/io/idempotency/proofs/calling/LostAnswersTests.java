package io.idempotency.proofs.calling;

import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import feign.Feign;
import feign.Headers;
import feign.RequestLine;
import io.idempotency.client.IdempotencyKeys;
import io.idempotency.client.IdempotentCallCapability;
import io.idempotency.client.IdempotentCallFilter;
import io.idempotency.client.IdempotentCallInterceptor;
import io.idempotency.client.IdempotentCalls;
import io.idempotency.it.servers.Nightly;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.test.util.AopTestUtils;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.support.WebClientAdapter;
import org.springframework.web.service.annotation.PostExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every second answer is lost, and each caller gets the answer of the one payment that
 * was made for him.
 */
@SpringBootTest(classes = CallingApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "server.tomcat.max-keep-alive-requests=1")
class LostAnswersTests {

	/** A job of every night has more. */
	private static final int INTENTS = Integer.getInteger("idempotency.tests.intents",
			Nightly.Condition.isWanted() ? 1000 : 300);

	private static final int CALLERS = 8;

	private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);

	private IdempotentCalls calls;

	private PaymentController payments;

	private LossyLine line;

	@BeforeEach
	void connect(@Autowired IdempotentCalls defaults, @Autowired PaymentController proxy,
			@Value("${local.server.port}") int port) {
		this.calls = defaults.change()
			.maxAttempts(50)
			.firstDelay(Duration.ofMillis(1))
			.maxDelay(Duration.ofMillis(20))
			.build();
		this.payments = AopTestUtils.getTargetObject(proxy);
		this.payments.receipts.clear();
		this.payments.running = new CountDownLatch(1);
		this.payments.mayEnd = new CountDownLatch(1);
		this.line = new LossyLine(port);
	}

	@AfterEach
	void hangUp() throws IOException {
		this.payments.mayEnd.countDown();
		this.callers.shutdownNow();
		this.line.close();
	}

	private RestClient restClient() {
		return RestClient.builder()
			.baseUrl(this.line.address())
			.requestFactory(new JdkClientHttpRequestFactory(this.http))
			.requestInterceptor(new IdempotentCallInterceptor(this.calls))
			.build();
	}

	private WebClient webClient() {
		return WebClient.builder()
			.baseUrl(this.line.address())
			.clientConnector(new JdkClientHttpConnector(this.http))
			.filter(new IdempotentCallFilter(this.calls))
			.build();
	}

	private static String pay(RestClient client, String path, String intent) {
		return client.post().uri(path).body(intent).retrieve().body(String.class);
	}

	@Test
	void callersOfRestClientPayOnce() throws Exception {
		RestClient client = restClient();
		payAll((intent) -> pay(client, "/payments", intent));
	}

	/** On the {@code HttpURLConnection} of the JDK. */
	@Test
	void callersOfRestTemplatePayOnce() throws Exception {
		RestTemplate client = new RestTemplate();
		client.getInterceptors().add(new IdempotentCallInterceptor(this.calls));
		payAll((intent) -> client.postForObject(this.line.address() + "/payments", intent, String.class));
	}

	@Test
	void callersOfWebClientPayOnce() throws Exception {
		WebClient client = webClient();
		payAll((intent) -> client.post()
			.uri("/payments")
			.bodyValue(intent)
			.retrieve()
			.bodyToMono(String.class)
			.block());
	}

	@Test
	void callersOfAnHttpInterfacePayOnce() throws Exception {
		RestClient below = restClient().mutate().requestFactory(new SimpleClientHttpRequestFactory()).build();
		PaymentsByHttp client = HttpServiceProxyFactory.builderFor(RestClientAdapter.create(below))
			.build()
			.createClient(PaymentsByHttp.class);
		payAll(client::pay);
	}

	@Test
	void callersOfAnHttpInterfaceOverWebClientPayOnce() throws Exception {
		PaymentsByHttp client = HttpServiceProxyFactory.builderFor(WebClientAdapter.create(webClient()))
			.build()
			.createClient(PaymentsByHttp.class);
		payAll(client::pay);
	}

	@Test
	void callersOfFeignPayOnce() throws Exception {
		PaymentsByFeign client = Feign.builder()
			.addCapability(new IdempotentCallCapability(this.calls))
			.target(PaymentsByFeign.class, this.line.address());
		payAll(client::pay);
	}

	private void payAll(UnaryOperator<String> caller) throws Exception {
		Map<String, String> answers = new ConcurrentHashMap<>();
		List<Future<?>> running = new ArrayList<>();
		IntStream.range(0, INTENTS)
			.mapToObj((number) -> "intent " + number)
			.forEach((intent) -> running.add(this.callers.submit(() -> answers.put(intent, caller.apply(intent)))));
		for (Future<?> call : running) {
			call.get();
		}
		assertThat(this.line.answers()).isGreaterThan(INTENTS * 3 / 2);
		assertThat(this.payments.receipts).hasSize(INTENTS)
			.allSatisfy((intent, receipts) -> assertThat(receipts).containsExactly(answers.get(intent)));
	}

	/** The process that was to pay has died when the job begins again. */
	@Test
	void jobThatBeginsAgainPaysOnce() {
		this.line.loseNothing();
		String first = IdempotencyKeys.with("order-42", () -> pay(restClient(), "/payments", "order 42"));
		String second = IdempotencyKeys.with("order-42", () -> pay(restClient(), "/payments", "order 42"));
		assertThat(second).isEqualTo(first);
		assertThat(this.payments.receipts).hasSize(1)
			.allSatisfy((intent, receipts) -> assertThat(receipts).containsExactly(first));
	}

	@Test
	void callerOfARunningCallGetsItsAnswer() throws Exception {
		this.line.loseNothing();
		CompletableFuture<String> first = CompletableFuture.supplyAsync(
				() -> IdempotencyKeys.with("order-43", () -> pay(restClient(), "/slow-payments", "order 43")),
				this.callers);
		this.payments.running.await();
		RestClient impatient = restClient().mutate().requestInterceptor(this::endTheFirst).build();
		String second = IdempotencyKeys.with("order-43", () -> pay(impatient, "/slow-payments", "order 43"));
		assertThat(second).isEqualTo(first.get());
		assertThat(this.line.answers()).isGreaterThanOrEqualTo(3);
	}

	/** The first call ends when the second one has been rejected. */
	private ClientHttpResponse endTheFirst(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		ClientHttpResponse answer = execution.execute(request, body);
		if (answer.getStatusCode().value() == 409) {
			this.payments.mayEnd.countDown();
		}
		return answer;
	}

	interface PaymentsByHttp {

		@PostExchange("/payments")
		String pay(@RequestBody String intent);

	}

	interface PaymentsByFeign {

		@RequestLine("POST /payments")
		@Headers("Content-Type: text/plain")
		String pay(String intent);

	}

}
