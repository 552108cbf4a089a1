package io.idempotency.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;

import feign.Feign;
import feign.FeignException;
import feign.Headers;
import feign.Param;
import feign.Request;
import feign.RequestLine;
import feign.Response;
import feign.RetryableException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class IdempotentCallCapabilityTests {

	private final TestTiming timing = new TestTiming();

	private final Deque<Object> script = new ArrayDeque<>();

	private final List<@Nullable String> keys = new ArrayList<>();

	private final List<byte[]> bodies = new ArrayList<>();

	/** Each attempt takes the next of these: an answer, or a failure. */
	private Payments payments(Object... attempts) {
		this.script.addAll(Arrays.asList(attempts));
		return Feign.builder()
			.client(this::execute)
			.addCapability(new IdempotentCallCapability(IdempotentCalls.DEFAULTS, this.timing))
			.target(Payments.class, "http://a");
	}

	private Response execute(Request request, Request.Options options) throws IOException {
		Collection<String> sent = request.headers().getOrDefault("Idempotency-Key", List.of());
		this.keys.add(sent.isEmpty() ? null : String.join(",", sent));
		this.bodies.add((request.body() != null) ? request.body() : new byte[0]);
		Object next = this.script.remove();
		if (next instanceof IOException failure) {
			throw failure;
		}
		return ((Response.Builder) next).request(request).build();
	}

	private static Response.Builder answer(int status, String body) {
		return Response.builder().status(status).headers(Map.of()).body(body, StandardCharsets.UTF_8);
	}

	@Test
	void callIsSentWithOneKeyAndTheSameBytesUntilItHasAnAnswer() {
		Response.Builder busy = answer(409, "").headers(Map.of("retry-after", List.of("1")));
		assertThat(payments(new IOException("reset"), busy, answer(503, ""), answer(200, "receipt")).pay("order"))
			.isEqualTo("receipt");
		assertThat(this.keys).hasSize(4).doesNotContainNull();
		assertThat(this.keys.stream().distinct()).hasSize(1);
		assertThat(this.bodies).allSatisfy((body) -> assertThat(body).asString().isEqualTo("order"));
		assertThat(this.timing.pauses).hasSize(3);
	}

	@Test
	void retriesOfFeignDoNotMultiplyTheAttempts() {
		Object[] failures = new Object[IdempotentCalls.DEFAULTS.maxAttempts()];
		Arrays.fill(failures, new IOException("reset"));
		assertThatExceptionOfType(RetryableException.class).isThrownBy(() -> payments(failures).pay("order"));
		assertThat(this.keys).hasSize(5);
		assertThat(this.keys.stream().distinct()).hasSize(1);
	}

	@Test
	void retriesOfFeignAreThereForCallsWithoutAKey() {
		assertThat(payments(new IOException("reset"), answer(200, "receipt")).find()).isEqualTo("receipt");
		assertThat(this.keys).hasSize(2).containsOnlyNulls();
	}

	@Test
	void answersThatAreNotRepeatedAreTheCallers() {
		Response.Builder rejection = answer(422, "").headers(Map.of("Retry-After", List.of("1")));
		assertThatExceptionOfType(FeignException.class).isThrownBy(() -> payments(rejection).pay("order"))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(422));
		assertThat(this.keys).hasSize(1);
	}

	@Test
	void rejectionIsThrownAndNotRepeated() {
		Response.Builder rejected = answer(409, "{\"code\":\"duplicate\",\"retry\":\"never\"}")
			.headers(Map.of("content-type", List.of("application/problem+json"), "Retry-After", List.of("1")));
		assertThatExceptionOfType(RejectedCallException.class).isThrownBy(() -> payments(rejected).pay("order"))
			.satisfies((ex) -> assertThat(ex.code()).isEqualTo("duplicate"));
		assertThat(this.keys).hasSize(1);
	}

	@Test
	void rejectionThatAllowsTheSameKeyIsRepeated() {
		Response.Builder busy = answer(409, "{\"code\":\"in-progress\",\"retry\":\"same-key\"}")
			.headers(Map.of("Content-Type", List.of("application/problem+json")));
		assertThat(payments(busy, answer(200, "receipt")).pay("order")).isEqualTo("receipt");
		assertThat(this.keys.stream().distinct()).hasSize(1);
	}

	@Test
	void keyOfTheCallerIsKept() {
		assertThat(payments(new IOException("reset"), answer(200, "receipt")).payAs("mine")).isEqualTo("receipt");
		assertThat(this.keys).containsExactly("mine", "mine");
	}

	@Test
	void keyOfTheIntentIsSent() {
		Payments payments = payments(new IOException("reset"), answer(200, "receipt"));
		IdempotencyKeys.with("order-42", () -> payments.pay("order"));
		assertThat(this.keys).containsExactly("order-42", "order-42");
	}

	@Test
	void answerThatBreaksOffIsAskedForAgain() {
		InputStream broken = new InputStream() {

			@Override
			public int read() throws IOException {
				throw new IOException("Premature EOF");
			}

		};
		InputStream tooShort = new ByteArrayInputStream(new byte[3]);
		assertThat(payments(answer(200, "").body(broken, 7), answer(200, "").body(tooShort, 7), answer(200, "receipt"))
			.pay("order")).isEqualTo("receipt");
	}

	interface Payments {

		@RequestLine("POST /pay")
		String pay(String order);

		@RequestLine("POST /pay")
		@Headers("idempotency-key: {key}")
		String payAs(@Param("key") String key);

		@RequestLine("GET /pay")
		String find();

	}

}
