package io.idempotency.it.http;

import java.net.http.HttpRequest;

import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.Scenario;
import io.idempotency.it.scenarios.UnguardedScenarios;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;

/** Forwards, too, which only servlets have. */
class UnguardedOnTomcatTests extends OnTomcat implements UnguardedScenarios {

	private RequestMappingInfo later;

	@Autowired
	UnguardedController controller;

	@Autowired
	RequestMappingHandlerMapping requestMappingHandlerMapping;

	/** This application has guarded routes, which any unsafe request may meet. */
	@Test
	void handlerWithoutAnnotationSeesNoWrapperOnASafeRequest() {
		Answer answer = this.client.send(this.client.to("/unguarded/seen")
			.header("Idempotency-Key", this.key)
			.method("GET", HttpRequest.BodyPublishers.noBody()));
		assertThat(answer.text()).isEqualTo("[]");
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

	@Override
	public void map(String path) throws Exception {
		this.later = RequestMappingInfo.paths(path)
			.methods(RequestMethod.POST)
			.options(this.requestMappingHandlerMapping.getBuilderConfiguration())
			.build();
		this.requestMappingHandlerMapping.registerMapping(this.later, this.controller,
				UnguardedController.class.getMethod("later"));
	}

	@Override
	public void unmap() {
		this.requestMappingHandlerMapping.unregisterMapping(this.later);
	}

}
