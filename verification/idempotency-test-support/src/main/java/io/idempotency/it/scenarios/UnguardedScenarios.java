package io.idempotency.it.scenarios;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is not guarded has the request as it came, and what is guarded behind code that
 * has read it works.
 */
public interface UnguardedScenarios extends Scenario {

	String FORM = "application/x-www-form-urlencoded";

	/** Maps a guarded handler that answers "later" to a path. */
	void map(String path) throws Exception;

	void unmap();

	@Test
	default void bodyComesThrough() {
		assertThat(client().post("/unguarded/copy", key(), "text/plain", "abc").text()).isEqualTo("abc");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { FORM + "|_method=PUT&amount=7", FORM + ";charset=UTF-8|amount=7&more=%C3%BC+%26&_method=PUT",
					"multipart/form-data; boundary=x|--x%Content-Disposition: form-data; name=\"_method\"%%PUT"
							+ "%--x%Content-Disposition: form-data; name=\"amount\"%%7%--x--%" })
	default void methodThatAFormAsksForIsGuarded(String contentType, String form) {
		String body = contentType.startsWith(FORM) ? form : form.replace("%", "\r\n");
		String first = client().post("/unguarded/hidden", key(), contentType, body).text();
		assertThat(first).startsWith("put 7 in run");
		Answer replay = client().post("/unguarded/hidden", key(), contentType, body);
		assertThat(replay.text()).isEqualTo(first);
		assertThat(replay.replayed()).isTrue();
		Scenario.assertCode(client().post("/unguarded/hidden", key(), contentType, body.replace("7", "8")), 422,
				"key-reused");
	}

	/** Spring Security reads the form before the guard does. */
	@ParameterizedTest
	@ValueSource(strings = { "amount=7&_csrf=", "_csrf=&amount=7" })
	default void formWithATokenAgainstForgeryIsComparedWithoutIt(String form) {
		Answer first = forged("one", form);
		assertThat(first.text()).startsWith("paid 7 in run");
		Answer replay = forged("two", form);
		assertThat(replay.text()).isEqualTo(first.text());
		assertThat(replay.replayed()).isTrue();
		Scenario.assertCode(forged("one", form.replace("7", "8")), 422, "key-reused");
	}

	private Answer forged(String token, String form) {
		return client().post("/csrf/pay", key(), FORM, form.replace("_csrf=", "_csrf=" + token),
				(request) -> request.header("Cookie", "XSRF-TOKEN=" + token));
	}

	@Test
	default void handlerThatIsMappedLaterIsGuarded() throws Exception {
		assertThat(client().post("/later/now", key()).status()).isEqualTo(404);
		map("/later/{when}");
		try {
			String first = client().post("/later/now", key()).text();
			assertThat(first).startsWith("later ");
			assertThat(client().post("/later/now", key()).text()).isEqualTo(first);
		}
		finally {
			unmap();
		}
	}

}
