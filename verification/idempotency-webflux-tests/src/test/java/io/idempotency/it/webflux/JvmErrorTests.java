package io.idempotency.it.webflux;

import java.util.UUID;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Client;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

import static io.idempotency.it.webflux.OrdersController.run;
import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Errors of the JVM, which Reactor throws where it signals others. */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@Import(JvmErrorTests.Broken.class)
class JvmErrorTests {

	private static final String KEY = "Idempotency-Key";

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	@ParameterizedTest
	@ValueSource(strings = { "/broken/called", "/broken/no-duplicate" })
	void keyIsFree(String path) {
		for (int run = 1; run <= 2; run++) {
			assertThat(new Client(this.port).post(path, this.key, "application/json", "{}").status()).isEqualTo(500);
			assertThat(runs("broken " + this.key)).isEqualTo(run);
		}
	}

	/** Nobody is told that the work has ended, so it counts as cut off. */
	@ParameterizedTest
	@ValueSource(strings = { "/broken/mono", "/broken/flux", "/broken/body" })
	void keyIsLeftToItsLeaseWhereReactorThrowsTheError(String path) {
		Client client = new Client(this.port);
		assertThat(client.post(path, this.key, "application/json", "{}").status()).isEqualTo(500);
		await().until(() -> client.post(path, this.key, "application/json", "{}").status() == 500);
		assertThat(runs("broken " + this.key)).isEqualTo(2);
	}

	@RestController
	static class Broken {

		private static String fail(String key) {
			run("broken " + key);
			throw new NoClassDefFoundError("com/example/Gateway");
		}

		@Idempotent
		@PostMapping("/broken/called")
		Mono<String> called(@RequestHeader(KEY) String key) {
			return Mono.just(fail(key));
		}

		@Idempotent(lease = "1s")
		@PostMapping("/broken/mono")
		Mono<String> mono(@RequestHeader(KEY) String key) {
			return Mono.fromSupplier(() -> fail(key));
		}

		@Idempotent(lease = "1s")
		@PostMapping("/broken/flux")
		Flux<String> flux(@RequestHeader(KEY) String key) {
			return Flux.range(0, 2).map((i) -> fail(key));
		}

		@Idempotent(lease = "1s")
		@PostMapping("/broken/body")
		Mono<ResponseEntity<Mono<String>>> body(@RequestHeader(KEY) String key) {
			return Mono.fromCallable(() -> {
				return ResponseEntity.ok(Mono.fromSupplier(() -> fail(key)));

			});
		}

		/** The error has become such an exception, and is none. */
		@Idempotent(duplicateOn = IllegalStateException.class)
		@PostMapping("/broken/no-duplicate")
		Mono<String> noDuplicate(@RequestHeader(KEY) String key) {
			return Mono.just(fail(key));
		}

	}

}
