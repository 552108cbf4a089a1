package io.idempotency.it.scenarios;

import java.util.List;
import java.util.Map;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A duplicate costs no binding where nothing but the guard protects the handler; where
 * anything else might reject the caller, it rejects the duplicate, too.
 */
public interface EarlyReplayScenarios {

	/** Sends a body with the key of the test. */
	Answer send(String path, String body) throws Exception;

	default Answer send(String path) throws Exception {
		return send(path, "{\"text\":\"one\"}");
	}

	Rights rights();

	/** The paths of handlers of a body that nothing else protects. */
	default List<String> plain() {
		return List.of("plain");
	}

	/** Returns whether a replay is served before the arguments are bound. */
	default boolean replaysEarly() {
		return true;
	}

	/** The paths of those that something protects, with what it answers. */
	Map<String, Integer> rejected();

	@BeforeEach
	default void giveRights() {
		rights().give(true);
	}

	@Test
	default void anotherBodyIsRejectedAsEver() throws Exception {
		for (String path : plain()) {
			send("/early/" + path);
			assertThat(send("/early/" + path, "{\"text\":\"two\"}").status()).as(path).isEqualTo(422);
			assertThat(send("/early/" + path).replayed()).isTrue();
		}
	}

	@Test
	default void duplicateThatIsNotComparedIsReplayed() throws Exception {
		send("/early/not-compared");
		assertThat(send("/early/not-compared", "anything").replayed()).isTrue();
	}

	@Test
	default void callerWhoHasLostItsRightsSeesNoReplay() throws Exception {
		for (Map.Entry<String, Integer> where : rejected().entrySet()) {
			String path = "/early/" + where.getKey();
			Answer first = send(path);
			assertThat(first.status()).as(path).isEqualTo(200);
			rights().give(false);
			Answer denied = send(path);
			assertThat(denied.status()).as(path).isEqualTo(where.getValue());
			assertThat(denied.text()).doesNotContain(first.text());
			assertThat(denied.replayed()).isFalse();
			rights().give(true);
			Answer second = send(path);
			assertThat(second.replayed()).as(path).isTrue();
			assertThat(second.text()).isEqualTo(first.text());
		}
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '|', value = { "validated,{\"text\":\"one\"}", "validated-elements,[\"one\"]" })
	default void validatorOfTheApplicationSeesADuplicate(String path, String body) throws Exception {
		assertThat(send("/early/" + path, body).status()).isEqualTo(200);
		rights().give(false);
		assertThat(send("/early/" + path, body).status()).isEqualTo(400);
		rights().give(true);
		assertThat(send("/early/" + path, body).replayed()).isTrue();
	}

	/** Spring makes them, by their own constructor. */
	@ParameterizedTest
	@ValueSource(strings = { "voucher", "vouchers", "optional-voucher" })
	default void typeOfTheApplicationSeesADuplicate(String path) throws Exception {
		assertThat(send("/early/" + path).status()).isEqualTo(200);
		rights().give(false);
		assertThat(send("/early/" + path).status()).isEqualTo(400);
		rights().give(true);
		assertThat(send("/early/" + path).replayed()).isTrue();
	}

	@Test
	default void callThatIsNotGuardedAnyMoreRuns() throws Exception {
		Answer first = send("/early/condition");
		rights().give(false);
		Answer second = send("/early/condition");
		assertThat(second.replayed()).isFalse();
		assertThat(second.text()).isNotEqualTo(first.text());
	}

}
