package io.idempotency.it.http;

import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;

import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Answers that are kept encrypted: what lies in the store, and what becomes of it where
 * somebody moves it. The scenarios of answers that are kept in the clear hold as well.
 */
@TestPropertySource(properties = { "idempotency.encryption.keys.k1=" + EncryptedAnswersTests.KEY,
		"management.endpoints.web.exposure.include=env,configprops", "management.endpoint.env.show-values=always",
		"management.endpoint.configprops.show-values=always", "idempotency.http.replayed-header=Idempotent-Replayed" })
abstract class EncryptedAnswersTests extends KeptAnswersOnTomcatTests {

	static final String KEY = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=";

	private static final String FORMAT = "idempotency.encrypted1";

	/** The identities of all records. */
	abstract Set<String> ids();

	/** All that the store holds of a record, byte for byte. */
	abstract String bytesOf(String id);

	/** Puts the result of one record into another. */
	abstract void copyResult(String from, String to);

	@Test
	void storeHoldsNothingOfAnAnswer() {
		assertThat(recordOf("/answers/writer", this.key)).contains(FORMAT)
			.doesNotContain("und Schluss")
			.doesNotContain("text/plain");
		assertThat(recordOf("/answers/created", this.key)).contains(FORMAT)
			.doesNotContain("/receipts/")
			.doesNotContain("X-Many");
		assertThat(recordOf("/failures/remembered-exception", this.key)).contains(FORMAT)
			.doesNotContain("Internal Server Error");
	}

	private String recordOf(String path, String key) {
		return bytesOf(idOf(path, key));
	}

	private String idOf(String path, String key) {
		Set<String> before = ids();
		this.client.post(path, key);
		Set<String> created = new HashSet<>(ids());
		created.removeAll(before);
		assertThat(created).hasSize(1);
		return created.iterator().next();
	}

	@Test
	void answerOfAnotherKeyIsRefusedAndNothingRuns() {
		String otherKey = UUID.randomUUID().toString();
		String mine = idOf("/answers/text", this.key);
		String other = idOf("/answers/text", otherKey);
		int runs = this.runs.of("/answers/text");
		copyResult(mine, other);
		for (int i = 0; i < 2; i++) {
			Answer refused = this.client.post("/answers/text", otherKey);
			assertThat(refused.status()).as("answer %s", refused).isEqualTo(409);
			assertThat(refused.text()).contains("\"code\":\"result-unavailable\"");
		}
		Answer own = this.client.post("/answers/text", this.key);
		assertThat(own.replayed()).isTrue();
		assertThat(own.text()).isEqualTo("Grüße " + (runs - 1));
		assertThat(this.runs.of("/answers/text")).isEqualTo(runs);
	}

	@Test
	void keysAreHiddenWhereEndpointsShowValues() {
		for (String endpoint : new String[] { "/actuator/env", "/actuator/configprops" }) {
			Answer answer = this.client.send(this.client.to(endpoint).GET());
			assertThat(answer.status()).as(endpoint).isEqualTo(200);
			assertThat(answer.text()).as(endpoint).contains("Idempotent-Replayed", "k1").doesNotContain(KEY);
		}
	}

}
