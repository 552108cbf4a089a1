package io.idempotency.it.http;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class ReleasedOnTomcatTests extends OnTomcat {

	@ParameterizedTest
	@ValueSource(strings = { "/failures/future-503", "/failures/status/401", "/failures/status/403",
			"/failures/status/408", "/failures/status/425", "/failures/status/429", "/failures/status/500",
			"/failures/status/503", "/failures/exception", "/failures/lost-connection",
			"/failures/lost-connection-later", "/failures/send-error-503" })
	void retryRunsAgain(String path) {
		int before = this.runs.of(path);
		Answer first = this.client.post(path, this.key);
		Answer second = this.client.post(path, this.key);
		assertThat(second.status()).as("second %s", second).isEqualTo(first.status());
		assertThat(second.replayed()).isFalse();
		assertThat(this.runs.of(path) - before).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/failures/lost-connection", "/failures/lost-connection-later" })
	void failureThatSpringTakesForAClientThatHasGoneIsNoSuccess(String path) {
		assertThat(this.client.post(path, this.key).status()).isEqualTo(500);
	}

	@Test
	void callThatIsRefusedBeforeTheHandlerRunsUsesNoKey() {
		Answer invalid = this.client.post("/keys/validated", this.key, "application/json",
				"{\"room\":\"\",\"nights\":1}");
		Answer malformed = this.client.post("/keys/validated", this.key, "application/json", "{\"room\":");
		Answer unsupported = this.client.post("/keys/validated", this.key, "text/plain", "room");
		Answer valid = this.client.post("/keys/validated", this.key, "application/json",
				"{\"room\":\"12\",\"nights\":1}");
		assertThat(invalid.status()).isEqualTo(400);
		assertThat(malformed.status()).isEqualTo(400);
		assertThat(unsupported.status()).isEqualTo(415);
		assertThat(valid.status()).as("valid %s", valid).isEqualTo(200);
		assertThat(valid.replayed()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/validated", "/validated/remembering" })
	void callThatItsOwnAdviceRefusesUsesNoKey(String path) {
		int before = this.runs.of(path);
		Answer invalid = this.client.post(path + "?nights=0", this.key);
		Answer valid = this.client.post(path + "?nights=1", this.key);
		Answer again = this.client.post(path + "?nights=1", this.key);
		assertThat(invalid.status()).isEqualTo(400);
		assertThat(valid.status()).as("valid %s", valid).isEqualTo(200);
		assertThat(valid.replayed()).isFalse();
		assertThat(again.replayed()).isTrue();
		assertThat(this.runs.of(path) - before).isEqualTo(1);
	}

	@Test
	void callThatIsRefusedInsideTheHandlerHasRun() {
		int before = this.runs.of("/validated/inside");
		Answer first = this.client.post("/validated/inside?nights=1", this.key);
		Answer second = this.client.post("/validated/inside?nights=1", this.key);
		assertThat(first.status()).isEqualTo(400);
		assertThat(second.replayed()).isTrue();
		assertThat(this.runs.of("/validated/inside") - before).isEqualTo(1);
	}

	@Test
	void callerWhoMayNotUsesNoKey() {
		Answer anonymous = this.client.post("/private/orders", this.key);
		Answer alice = this.client.post("/private/orders", this.key, "text/plain", "", Client.as("alice"));
		assertThat(anonymous.status()).isEqualTo(401);
		assertThat(alice.status()).isEqualTo(200);
		assertThat(alice.replayed()).isFalse();
	}

	@Test
	void methodSecurityIsAskedBeforeAnyClaimAndOnEveryReplay() {
		int before = this.runs.of("/keys/clerks");
		Answer denied = this.client.post("/keys/clerks", this.key, "text/plain", "", Client.as("bob"));
		Answer first = this.client.post("/keys/clerks", this.key, "text/plain", "", Client.as("alice"));
		Answer second = this.client.post("/keys/clerks", this.key, "text/plain", "", Client.as("alice"));
		Answer deniedAgain = this.client.post("/keys/clerks", this.key, "text/plain", "", Client.as("bob"));
		assertThat(denied.status()).isEqualTo(403);
		assertThat(first.status()).isEqualTo(200);
		assertThat(second.replayed()).isTrue();
		assertThat(deniedAgain.status()).isEqualTo(403);
		assertThat(this.runs.of("/keys/clerks") - before).isEqualTo(1);
	}

}
