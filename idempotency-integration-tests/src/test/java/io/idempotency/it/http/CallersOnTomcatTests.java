package io.idempotency.it.http;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class CallersOnTomcatTests extends OnTomcat {

	@Test
	void oneNameOfTwoIssuersIsTwoCallers() {
		Answer first = pay("a.42");
		Answer second = pay("b.42");
		assertThat(first.status()).isEqualTo(200);
		assertThat(second.replayed()).as("%s", second).isFalse();
		assertThat(second.text()).isNotEqualTo(first.text());
		assertThat(pay("a.42").replayed()).isTrue();
		assertThat(pay("b.42").text()).isEqualTo(second.text());
	}

	@ParameterizedTest
	@ValueSource(strings = { "a.", "a.object" })
	void callerWhoCannotBeKnownAgainIsRefused(String token) {
		List<String> log = new CopyOnWriteArrayList<>();
		Logger tomcat = Logger.getLogger("org.apache.catalina");
		Handler handler = handlerOf(log);
		tomcat.addHandler(handler);
		int before = this.runs.of("/callers/pay");
		try {
			assertThat(pay(token).status()).isEqualTo(500);
			assertThat(pay(token).status()).isEqualTo(500);
			await().untilAsserted(() -> assertThat(log).anySatisfy((line) -> assertThat(line)
				.contains("give it a stable name or declare an IdempotencyScopeResolver")));
		}
		finally {
			tomcat.removeHandler(handler);
		}
		assertThat(this.runs.of("/callers/pay")).isEqualTo(before);
	}

	/**
	 * Reads where Tomcat writes: its bridge to SLF4J belongs to the applications of this
	 * virtual machine and is gone once another one of them has closed.
	 */
	private static Handler handlerOf(List<String> log) {
		return new Handler() {

			@Override
			public void publish(LogRecord record) {
				log.add(record.getMessage() + ": " + record.getThrown());
			}

			@Override
			public void flush() {
				// nothing is held back
			}

			@Override
			public void close() {
				// nothing is open
			}

		};
	}

	private Answer pay(String token) {
		return this.client.post("/callers/pay", this.key, "text/plain", "",
				(request) -> request.header("Authorization", "Bearer " + token));
	}

}
