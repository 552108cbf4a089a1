package io.idempotency.it.scenarios;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

import io.idempotency.it.client.Answer;
import io.idempotency.it.servers.RedisServer;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Answers that are kept encrypted: what lies in the store, and what becomes of it where
 * somebody moves it. The scenarios of answers that are kept in the clear hold as well.
 */
public interface EncryptedAnswersScenarios extends KeptAnswersScenarios {

	String KEY = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=";

	/** Of the application. */
	String PROPERTIES = "idempotency.encryption.keys.k1=" + KEY + """

			idempotency.http.replayed-header=Idempotent-Replayed
			management.endpoints.web.exposure.include=env,configprops
			management.endpoint.env.show-values=always
			management.endpoint.configprops.show-values=always
			""";

	String FORMAT = "idempotency.encrypted1";

	/** The identities of all records. */
	Set<String> ids();

	/** All that the store holds of a record, byte for byte. */
	String bytesOf(String id);

	/** Puts the result of one record into another, which this node has not seen yet. */
	void copyResult(String from, String to);

	@Test
	default void storeHoldsNothingOfAnAnswer() {
		assertThat(bytesOf(idOf("/answers/text", key()))).contains(FORMAT)
			.doesNotContain("text/plain")
			.doesNotContain(new String("Grüße".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
		assertThat(bytesOf(idOf("/answers/created", key()))).contains(FORMAT)
			.doesNotContain("/receipts/")
			.doesNotContain("X-Many");
		assertThat(bytesOf(idOf("/failures/remembered-exception", key()))).contains(FORMAT)
			.doesNotContain("Internal Server Error");
	}

	private String idOf(String path, String key) {
		Set<String> before = ids();
		client().post(path, key);
		Set<String> created = new HashSet<>(ids());
		created.removeAll(before);
		assertThat(created).hasSize(1);
		return created.iterator().next();
	}

	@Test
	default void answerOfAnotherKeyIsRejectedAndNothingRuns() {
		String otherKey = UUID.randomUUID().toString();
		String mine = idOf("/answers/text", key());
		String other = idOf("/answers/text", otherKey);
		int runs = runs().of("/answers/text");
		copyResult(mine, other);
		for (int i = 0; i < 2; i++) {
			Scenario.assertCode(client().post("/answers/text", otherKey), 409, "result-unavailable");
		}
		Answer own = client().post("/answers/text", key());
		assertThat(own.replayed()).isTrue();
		assertThat(own.text()).isEqualTo("Grüße " + (runs - 1));
		assertThat(runs().of("/answers/text")).isEqualTo(runs);
	}

	@Test
	default void keysAreHiddenWhereEndpointsShowValues() {
		for (String endpoint : new String[] { "/actuator/env", "/actuator/configprops" }) {
			Answer answer = client().send(client().to(endpoint).GET());
			assertThat(answer.status()).as(endpoint).isEqualTo(200);
			assertThat(answer.text()).as(endpoint).contains("Idempotent-Replayed", "k1").doesNotContain(KEY);
		}
	}

	/** In a Redis of their own. */
	interface InRedis extends EncryptedAnswersScenarios {

		RedisServer server();

		@Override
		default Set<String> ids() {
			return ((Collection<?>) server().command("KEYS", "*")).stream()
				.map(String.class::cast)
				.collect(Collectors.toSet());
		}

		@Override
		default String bytesOf(String id) {
			return (String) server().command("GET", id);
		}

		@Override
		default void copyResult(String from, String to) {
			assertThat(server().command("COPY", from, to, "REPLACE")).isEqualTo(1L);
		}

	}

	/** In a PostgreSQL of their own. */
	interface InPostgreSql extends EncryptedAnswersScenarios {

		JdbcTemplate database();

		@Override
		default Set<String> ids() {
			return new HashSet<>(
					database().queryForList("select encode(key_hash, 'hex') from idempotency_record", String.class));
		}

		@Override
		default String bytesOf(String id) {
			return database().queryForObject(
					"select result_format, result_body from idempotency_record where key_hash = decode(?, 'hex')",
					(row, number) -> row.getString(1) + new String(row.getBytes(2), StandardCharsets.ISO_8859_1), id);
		}

		@Override
		default void copyResult(String from, String to) {
			assertThat(database().update("""
					update idempotency_record moved set result_format = own.result_format, result_body = own.result_body
					from idempotency_record own
					where own.key_hash = decode(?, 'hex') and moved.key_hash = decode(?, 'hex')""", from, to))
				.isEqualTo(1);
		}

	}

}
