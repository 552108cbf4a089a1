package io.idempotency.it.http;

import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.engine.IdempotencyEngine;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A client that disconnects while Tomcat reads its body for a WebFlux handler. */
@SpringBootTest(classes = WebFluxOnTomcatTests.Application.class,
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "spring.main.web-application-type=reactive")
class WebFluxOnTomcatTests {

	@Value("${local.server.port}")
	int port;

	@Autowired
	IdempotencyEngine engine;

	@Test
	void bodyOfALostClientEndsWithAnError() throws Exception {
		String key = UUID.randomUUID().toString();
		try (Socket socket = new Socket("127.0.0.1", this.port)) {
			socket.setSoLinger(true, 0);
			socket.getOutputStream().write(request(key, "abc"));
			socket.getOutputStream().flush();
			await().until(() -> Uploads.begun.get() == 1);
		}
		await().until(() -> Uploads.failed.get() == 1);
		await().until(() -> this.engine.load().detachedCalls() == 0);
		await().until(() -> send(key).startsWith("HTTP/1.1 200"));
		assertThat(Uploads.done).hasValue(1);
	}

	private String send(String key) throws Exception {
		try (Socket socket = new Socket("127.0.0.1", this.port)) {
			socket.getOutputStream().write(request(key, "abcdefgh"));
			socket.getOutputStream().flush();
			InputStream in = socket.getInputStream();
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	private static byte[] request(String key, String body) {
		return ("POST /upload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIdempotency-Key: " + key
				+ "\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\n" + body)
			.getBytes(StandardCharsets.US_ASCII);
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@Import(Uploads.class)
	static class Application {

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeExchange((exchanges) -> exchanges.anyExchange().permitAll())
				.build();
		}

	}

	@RestController
	static class Uploads {

		static final AtomicInteger begun = new AtomicInteger();

		static final AtomicInteger failed = new AtomicInteger();

		static final AtomicInteger done = new AtomicInteger();

		@Idempotent(fingerprint = "none")
		@PostMapping("/upload")
		public Mono<String> upload(ServerHttpRequest request) {
			return DataBufferUtils.join(request.getBody().doOnSubscribe((subscription) -> begun.incrementAndGet()))
				.doOnNext(DataBufferUtils::release)
				.doOnError((error) -> failed.incrementAndGet())
				.map((body) -> "run " + done.incrementAndGet());
		}

	}

}
