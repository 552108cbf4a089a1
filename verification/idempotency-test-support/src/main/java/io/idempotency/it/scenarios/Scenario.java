package io.idempotency.it.scenarios;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a client sends to an application, and what must come, whatever the application
 * runs on. Each stack has an application with the same paths.
 */
public interface Scenario {

	Client client();

	/** Those of the handlers of the application, by their paths. */
	Runs runs();

	/** Another one for each test. */
	String key();

	static void assertCode(Answer answer, int status, String code) {
		assertThat(answer.status()).as("answer %s", answer).isEqualTo(status);
		assertThat(answer.text()).contains("\"code\":\"" + code + "\"");
	}

}
