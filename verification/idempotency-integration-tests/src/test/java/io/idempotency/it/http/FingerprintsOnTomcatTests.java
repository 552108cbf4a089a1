package io.idempotency.it.http;

import java.util.UUID;

import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.FingerprintsScenarios;
import io.idempotency.it.scenarios.Scenario;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class FingerprintsOnTomcatTests extends OnTomcat implements FingerprintsScenarios {

	private static final String FORM = "application/x-www-form-urlencoded";

	@Test
	void formReadAsAMapOrFromTheRequestIsWhole() {
		assertThat(this.client.post("/requests/form-map", this.key, FORM, "b=2&a=1").text()).isEqualTo("{a=1, b=2}");
		assertThat(this.client.post("/requests/servlet-parameters?q=0", this.key, FORM, "b=2&a=1").text())
			.isEqualTo("a=[1] b=[2] q=[0] ");
		assertThat(this.client.post("/requests/input-stream", this.key, FORM, "b=2&a=1").text())
			.isEqualTo("got b=2&a=1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "id=a&b=100%", "&id=a", "id=a&&b=1", "=1&id=a&c", "id=%zz&id=a", "id=M%FCller", "id" })
	void handlerSeesTheFormAsTheContainerParsesIt(String form) {
		Answer unguarded = this.client.post("/unguarded/servlet-parameters?q=0", this.key, FORM, form);
		Answer guarded = this.client.post("/requests/servlet-parameters?q=0", this.key, FORM, form);
		assertThat(guarded.status()).as("%s", guarded).isEqualTo(200);
		if (unguarded.status() == 200) {
			assertThat(guarded.text()).isEqualTo(unguarded.text());
		}
		assertThat(this.client.post("/requests/servlet-parameters?q=0", this.key, FORM, form).replayed()).isTrue();
		Scenario.assertCode(this.client.post("/requests/servlet-parameters?q=0", this.key, FORM, form + "&b=2"), 422,
				"key-reused");
	}

	@Test
	void handlerSeesAllFieldsOfALargeForm() {
		assertThat(
				this.client.post("/requests/servlet-parameters", this.key, FORM, "a=1&".repeat(1500) + "id=a").text())
			.endsWith("id=[a] ");
		Answer tooMany = this.client.post("/requests/servlet-parameters", this.key, FORM, "a&".repeat(10_000) + "id=a");
		assertThat(tooMany.status()).as("%s", tooMany).isEqualTo(400);
	}

	@Test
	void formThatCannotBeReadIsComparedByItsBytes() {
		String many = "a=1&".repeat(1000);
		for (String form : new String[] { "a=%zz", many }) {
			String key = UUID.randomUUID().toString();
			this.client.post("/requests/input-stream", key, FORM, form + "&b=1");
			assertThat(this.client.post("/requests/input-stream", key, FORM, form + "&b=1").replayed()).isTrue();
			Scenario.assertCode(this.client.post("/requests/input-stream", key, FORM, form + "&b=2"), 422,
					"key-reused");
		}
	}

	/** Who reads it first, the container or the guard, decides what is compared. */
	@Test
	void formThatNobodyCanReadIsReplayed() {
		String form = "sku=%zz&=1";
		Answer first = this.client.post("/requests/optional-form", this.key, FORM, form);
		Answer second = this.client.post("/requests/optional-form", this.key, FORM, form);
		assertThat(first.status()).as("%s", first).isEqualTo(isTomcat11() ? 400 : 200);
		assertThat(second.status()).as("%s", second).isEqualTo(isTomcat11() ? 400 : 200);
		assertThat(second.replayed()).isEqualTo(!isTomcat11());
	}

	/**
	 * The dispatcher reads the parts before it looks for a handler: no guard is asked.
	 */
	@Test
	void malformedMultipartUsesNoKey() {
		int before = this.runs.of("/requests/multipart");
		Answer wrong = this.client.post("/requests/multipart", this.key, "multipart/form-data", "no boundary");
		assertThat(wrong.status()).as("%s", wrong).isEqualTo(500);
		Answer unguarded = this.client.post("/twins/unguarded/WRITER/1", this.key, "multipart/form-data",
				"no boundary");
		assertThat(unguarded.status()).as("what Spring makes of it without a guard").isEqualTo(500);
		assertThat(this.runs.of("/requests/multipart") - before).isZero();
		assertThat(multipart("b1", "a", "receipt.txt", "text/plain", "one").status()).isEqualTo(200);
	}

}
