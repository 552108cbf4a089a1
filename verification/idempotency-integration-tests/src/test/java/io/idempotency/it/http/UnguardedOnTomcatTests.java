package io.idempotency.it.http;

import io.idempotency.it.scenarios.Scenario;
import java.net.http.HttpRequest;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is not guarded has the request as it came, and what is guarded behind it works.
 */
class UnguardedOnTomcatTests extends OnTomcat {

	private static final String FORM = "application/x-www-form-urlencoded";

	@Autowired
	UnguardedController controller;

	@Autowired
	RequestMappingHandlerMapping requestMappingHandlerMapping;

	@ParameterizedTest
	@ValueSource(strings = { "GET", "POST", "PUT", "DELETE" })
	void handlerWithoutAnnotationSeesNoWrapper(String method) {
		Answer answer = this.client.send(this.client.to("/unguarded/seen")
			.header("Idempotency-Key", this.key)
			.method(method, HttpRequest.BodyPublishers.noBody()));
		assertThat(answer.text()).isEqualTo("[]");
	}

	@Test
	void bodyComesThrough() {
		assertThat(this.client.post("/unguarded/copy", this.key, "text/plain", "abc").text()).isEqualTo("abc");
	}

	@ParameterizedTest
	@CsvSource({ "/unguarded/forward, application/json, {\"amount\":1}, {\"amount\":2}",
			"/unguarded/forward, text/plain, one, two", "/unguarded/forward-form, " + FORM + ", amount=1, amount=2" })
	void whatIsForwardedToIsGuardedWithItsBody(String path, String contentType, String body, String otherBody) {
		Answer first = this.client.post(path, this.key, contentType, body);
		assertThat(first.status()).isEqualTo(200);
		Answer replay = this.client.post(path, this.key, contentType, body);
		assertThat(replay.text()).isEqualTo(first.text());
		assertThat(replay.replayed()).isTrue();
		Scenario.assertCode(this.client.post(path, this.key, contentType, otherBody), 422, "key-reused");
	}

	@Test
	void forwardWithoutABodyIsGuarded() {
		assertThat(this.client.post("/unguarded/forward", this.key).text()).startsWith("paid null");
		assertThat(this.client.post("/unguarded/forward", this.key).replayed()).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { FORM + "|_method=PUT&amount=7", "multipart/form-data; boundary=x|--x%Content-Disposition: "
					+ "form-data; name=\"_method\"%%PUT%--x%Content-Disposition: form-data; name=\"amount\"%%7%--x--%" })
	void methodThatAFormAsksForIsGuarded(String contentType, String form) {
		String body = form.replace("%", "\r\n");
		String first = this.client.post("/unguarded/hidden", this.key, contentType, body).text();
		assertThat(first).startsWith("put 7 in run");
		Answer replay = this.client.post("/unguarded/hidden", this.key, contentType, body);
		assertThat(replay.text()).isEqualTo(first);
		assertThat(replay.replayed()).isTrue();
		Scenario.assertCode(this.client.post("/unguarded/hidden", this.key, contentType, body.replace("7", "8")), 422,
				"key-reused");
	}

	@Test
	void handlerThatIsMappedLaterIsGuarded() throws Exception {
		RequestMappingInfo later = RequestMappingInfo.paths("/later/{when}")
			.methods(RequestMethod.POST)
			.options(this.requestMappingHandlerMapping.getBuilderConfiguration())
			.build();
		assertThat(this.client.post("/later/now", this.key).status()).isEqualTo(404);
		this.requestMappingHandlerMapping.registerMapping(later, this.controller,
				UnguardedController.class.getMethod("later"));
		try {
			String first = this.client.post("/later/now", this.key).text();
			assertThat(first).startsWith("later ");
			assertThat(this.client.post("/later/now", this.key).text()).isEqualTo(first);
		}
		finally {
			this.requestMappingHandlerMapping.unregisterMapping(later);
		}
	}

}
