package io.idempotency.it.scenarios;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What leaves the key free. */
public interface ReleasedScenarios extends Scenario {

	@ParameterizedTest
	@ValueSource(strings = { "/failures/future-503", "/failures/status/401", "/failures/status/403",
			"/failures/status/408", "/failures/status/425", "/failures/status/429", "/failures/status/500",
			"/failures/status/503", "/failures/exception", "/failures/lost-connection",
			"/failures/lost-connection-later", "/failures/send-error-503" })
	default void retryRunsAgain(String path) {
		int before = runs().of(path);
		Answer first = client().post(path, key());
		Answer second = client().post(path, key());
		assertThat(second.status()).as("second %s", second).isEqualTo(first.status());
		assertThat(second.replayed()).isFalse();
		assertThat(runs().of(path) - before).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/failures/lost-connection", "/failures/lost-connection-later" })
	default void failureThatSpringTakesForAClientThatHasGoneIsNoSuccess(String path) {
		assertThat(client().post(path, key()).status()).isEqualTo(500);
	}

	@Test
	default void callThatIsRejectedBeforeTheHandlerRunsUsesNoKey() {
		Answer invalid = client().post("/keys/validated", key(), "application/json", "{\"room\":\"\",\"nights\":1}");
		Answer malformed = client().post("/keys/validated", key(), "application/json", "{\"room\":");
		Answer unsupported = client().post("/keys/validated", key(), "text/plain", "room");
		Answer valid = client().post("/keys/validated", key(), "application/json", "{\"room\":\"12\",\"nights\":1}");
		assertThat(invalid.status()).isEqualTo(400);
		assertThat(malformed.status()).isEqualTo(400);
		assertThat(unsupported.status()).isEqualTo(415);
		assertThat(valid.status()).as("valid %s", valid).isEqualTo(200);
		assertThat(valid.replayed()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/validated", "/validated/remembering" })
	default void callThatItsOwnAdviceRejectsUsesNoKey(String path) {
		int before = runs().of(path);
		Answer invalid = client().post(path + "?nights=0", key());
		Answer valid = client().post(path + "?nights=1", key());
		Answer again = client().post(path + "?nights=1", key());
		assertThat(invalid.status()).isEqualTo(400);
		assertThat(valid.status()).as("valid %s", valid).isEqualTo(200);
		assertThat(valid.replayed()).isFalse();
		assertThat(again.replayed()).isTrue();
		assertThat(runs().of(path) - before).isEqualTo(1);
	}

	@Test
	default void callThatIsRejectedInsideTheHandlerHasRun() {
		int before = runs().of("/validated/inside");
		Answer first = client().post("/validated/inside?nights=1", key());
		Answer second = client().post("/validated/inside?nights=1", key());
		assertThat(first.status()).isEqualTo(400);
		assertThat(second.replayed()).isTrue();
		assertThat(runs().of("/validated/inside") - before).isEqualTo(1);
	}

	@Test
	default void callerWhoMayNotUsesNoKey() {
		Answer anonymous = client().post("/private/orders", key());
		Answer alice = client().post("/private/orders", key(), "text/plain", "", Client.as("alice"));
		assertThat(anonymous.status()).isEqualTo(401);
		assertThat(alice.status()).isEqualTo(200);
		assertThat(alice.replayed()).isFalse();
	}

	@Test
	default void methodSecurityIsAskedBeforeAnyClaimAndOnEveryReplay() {
		int before = runs().of("/keys/clerks");
		Answer denied = client().post("/keys/clerks", key(), "text/plain", "", Client.as("bob"));
		Answer first = client().post("/keys/clerks", key(), "text/plain", "", Client.as("alice"));
		Answer second = client().post("/keys/clerks", key(), "text/plain", "", Client.as("alice"));
		Answer deniedAgain = client().post("/keys/clerks", key(), "text/plain", "", Client.as("bob"));
		assertThat(denied.status()).isEqualTo(403);
		assertThat(first.status()).isEqualTo(200);
		assertThat(second.replayed()).isTrue();
		assertThat(deniedAgain.status()).isEqualTo(403);
		assertThat(runs().of("/keys/clerks") - before).isEqualTo(1);
	}

}
