package io.idempotency.interceptor;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;

import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.data.rest.webmvc.RepositoryRestController;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.simp.annotation.SubscribeMapping;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.NativeWebRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What no adapter can guard is rejected at start-up, which names the framework and the
 * cure.
 */
class UnsupportedCallerCheckTests {

	@ParameterizedTest
	@ValueSource(classes = { DefaultKey.class, BodyKey.class, ExpressionKey.class, GuardedController.class })
	void aControllerIsRejectedWithTheReason(Class<?> controller) {
		assertThat(Rejections.of(controller, WebFlux.class))
			.hasMessageStartingWith("@Idempotent on '" + controller.getName() + "#run(String)'")
			.hasMessageContaining("WebFlux")
			.satisfies((failure) -> assertThat(((io.idempotency.IdempotencyConfigurationException) failure).action())
				.contains("idempotency-spring-boot-starter-webflux"));
	}

	@Test
	void aMethodOfAControllerThatHandlesNoRequestIsRejected() {
		assertThat(Rejections.of(NoHandler.class, WebFlux.class)).hasMessageContaining("WebFlux")
			.satisfies((failure) -> assertThat(((io.idempotency.IdempotencyConfigurationException) failure).action())
				.contains("Spring MVC"));
	}

	@Test
	void aKeyFromTheRequestIsRejectedOnOtherBeansToo() {
		assertThat(Rejections.of(HeaderOfService.class, WebFlux.class)).hasMessageContaining("WebFlux");
	}

	@Test
	void otherBeansAreGuarded() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Service.class, WebFlux.class)) {
			assertThat(context.getBean(Service.class).run("7")).isEqualTo("7");
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { FunctionalEndpoint.class, FunctionalAnswer.class, ReactiveEndpoint.class })
	void handlerOfAFunctionalEndpointIsNamed(Class<?> handler) {
		Rejections.assertRejected(handler, "functional endpoint", "firstHeader(\"Idempotency-Key\")");
	}

	@Test
	void controllerOfSpringDataRestIsNamed() {
		Rejections.assertRejected(DataRest.class, "@RepositoryRestController", "@RestController");
	}

	@ParameterizedTest
	@ValueSource(
			classes = { MessageWithoutKey.class, MessageWithHeader.class, MessageWithBody.class, Subscription.class })
	void messageHasNoRequestToReadAKeyFrom(Class<?> handler) {
		Rejections.assertRejected(handler, "@MessageMapping", "@Header(\"Idempotency-Key\") String id");
	}

	@Test
	void messageWithAKeyInItsArgumentsIsGuarded() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(MessageWithExpression.class)) {
			MessageWithExpression handler = context.getBean(MessageWithExpression.class);
			assertThat(handler.run("1")).isEqualTo(handler.run("1")).isNotEqualTo(handler.run("2"));
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { ToResponse.class, ToStream.class, ToWriter.class, ToMessage.class, ToRequest.class })
	void whatIsWrittenToAnArgumentIsNotReplayed(Class<?> writer) {
		Rejections.assertRejected(writer, "is not stored", "mode = IdempotencyMode.REJECT");
	}

	@Test
	void duplicatesThatAreRejectedMayWriteWhereTheyLike() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Rejecting.class, Unkept.class)) {
			assertThat(context.getBean(Rejecting.class)).isNotNull();
		}
	}

	static class FunctionalEndpoint {

		@Idempotent(header = "Idempotency-Key")
		public String run(org.springframework.web.servlet.function.ServerRequest request) {
			return "";
		}

	}

	static class FunctionalAnswer {

		@Idempotent
		public org.springframework.web.servlet.function.ServerResponse run(String any) {
			return org.springframework.web.servlet.function.ServerResponse.ok().build();
		}

	}

	static class ReactiveEndpoint {

		@Idempotent
		public Object run(org.springframework.web.reactive.function.server.ServerRequest request) {
			return request;
		}

	}

	@RepositoryRestController
	static class DataRest {

		@PostMapping
		@Idempotent
		public String run(String any) {
			return any;
		}

	}

	static class MessageWithoutKey {

		@MessageMapping("/pay")
		@Idempotent
		public String run(String order) {
			return order;
		}

	}

	static class MessageWithHeader {

		@MessageMapping("/pay")
		@Idempotent(header = "Idempotency-Key")
		public String run(String order) {
			return order;
		}

	}

	static class MessageWithBody {

		@MessageMapping("/pay")
		@Idempotent(body = "/id")
		public String run(String order) {
			return order;
		}

	}

	static class Subscription {

		@SubscribeMapping("/pay")
		@Idempotent(header = "Idempotency-Key")
		public String run(String order) {
			return order;
		}

	}

	static class MessageWithExpression {

		private int runs;

		@MessageMapping("/pay")
		@Idempotent(key = "#a0")
		public String run(String id) {
			return id + this.runs++;
		}

	}

	static class ToResponse {

		@Idempotent(key = "#a0.status")
		public void run(HttpServletResponse response) {
		}

	}

	static class ToStream {

		@Idempotent(key = "#a0.toString()")
		public void run(ByteArrayOutputStream out) {
		}

	}

	static class ToWriter {

		@Idempotent(key = "#a0.toString()")
		public String run(PrintWriter out) {
			return "";
		}

	}

	static class ToMessage {

		@Idempotent(key = "#a0.toString()")
		public void run(ServerHttpResponse response) {
		}

	}

	static class ToRequest {

		@Idempotent(key = "#a0.toString()")
		public void run(NativeWebRequest request) {
		}

	}

	static class Rejecting {

		@Idempotent(key = "#a0.toString()", mode = IdempotencyMode.REJECT)
		public void run(OutputStream out) {
		}

	}

	static class Unkept {

		@Idempotent(key = "#a0.toString()", keepResult = false)
		public void run(OutputStream out) {
		}

	}

	static class WebFlux {

		/** By the name that WebFlux looks it up by. */
		@Bean
		static Object webHandler() {
			return new Object();
		}

	}

	@RestController
	static class DefaultKey {

		@PostMapping
		@Idempotent
		public String run(String key) {
			return key;
		}

	}

	@RestController
	static class BodyKey {

		@PostMapping
		@Idempotent(body = "/x")
		public String run(String key) {
			return key;
		}

	}

	@RestController
	static class ExpressionKey {

		@PostMapping
		@Idempotent("#key")
		public String run(String key) {
			return key;
		}

	}

	@RestController
	@Idempotent
	static class GuardedController {

		@PostMapping
		public String run(String key) {
			return key;
		}

	}

	@Controller
	static class NoHandler {

		@Idempotent("#key")
		public String run(String key) {
			return key;
		}

	}

	static class HeaderOfService {

		@Idempotent(header = "X-Key")
		public String run(String key) {
			return key;
		}

	}

	static class Service {

		@Idempotent("#key")
		public String run(String key) {
			return key;
		}

	}

}
