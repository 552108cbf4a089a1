package io.idempotency.it.http;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.AnonymousScenarios;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

class AnonymousOnTomcatTests extends AnonymousScenarios {

	@Override
	protected ConfigurableApplicationContext start(Class<?> handlers, String... properties) {
		return new SpringApplicationBuilder(HttpApplication.class, handlers, Till.class, Ledger.class)
			.properties(properties)
			.run();
	}

	/** A client has chosen the key, so strangers would share it. */
	@ParameterizedTest
	@ValueSource(strings = { "/till/header", "/till/later" })
	void methodBehindAnUnguardedHandlerIsRejectedToo(String path) {
		int runs = Ledger.RUNS.get();
		assertRejected(send(this.rejecting, path));
		assertRejected(send(this.rejecting, path));
		assertThat(Ledger.RUNS).hasValue(runs);
		Answer named = sendAs("alice", path);
		assertThat(sendAs("alice", path).text()).isEqualTo(named.text()).isEqualTo("run " + (runs + 1));
		assertThat(send(this.sharing, path).text()).isEqualTo(send(this.sharing, path).text()).startsWith("run");
	}

	/** It is nobody's, whoever calls. */
	@Test
	void businessKeyOfAMethodIsLeftAlone() {
		Answer first = send(this.rejecting, "/keys/service?room=12");
		assertThat(first.text()).startsWith("12 run");
	}

	/** Not guarded itself. */
	@RestController
	static class Till {

		private final Ledger ledger;

		Till(Ledger ledger) {
			this.ledger = ledger;
		}

		@PostMapping("/till/header")
		public String header() {
			return this.ledger.book();
		}

		@PostMapping("/till/later")
		public Mono<String> later() {
			return this.ledger.bookLater();
		}

	}

	@Service
	static class Ledger {

		static final AtomicInteger RUNS = new AtomicInteger();

		@Idempotent(header = "Idempotency-Key")
		public String book() {
			return "run " + RUNS.incrementAndGet();
		}

		@Idempotent(header = "Idempotency-Key")
		public Mono<String> bookLater() {
			return Mono.fromSupplier(() -> "run " + RUNS.incrementAndGet());
		}

	}

}
