package io.idempotency.it.http;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

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
		AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {

			@Override
			protected void append(ILoggingEvent event) {
				log.add(event.getFormattedMessage() + ThrowableProxyUtil.asString(event.getThrowableProxy()));
			}

		};
		Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
		appender.setContext(root.getLoggerContext());
		appender.start();
		root.addAppender(appender);
		int before = this.runs.of("/callers/pay");
		try {
			assertThat(pay(token).status()).isEqualTo(500);
			assertThat(pay(token).status()).isEqualTo(500);
			await().untilAsserted(() -> assertThat(log).anySatisfy((line) -> assertThat(line)
				.contains("give it a stable name or declare an IdempotencyScopeResolver")));
		}
		finally {
			root.detachAppender(appender);
		}
		assertThat(this.runs.of("/callers/pay")).isEqualTo(before);
	}

	private Answer pay(String token) {
		return this.client.post("/callers/pay", this.key, "text/plain", "",
				(request) -> request.header("Authorization", "Bearer " + token));
	}

}
