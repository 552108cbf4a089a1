package io.idempotency.aop;

import io.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/** No door guards the controllers of WebFlux: start-up says so. */
class ReactiveApplicationTests {

	@ParameterizedTest
	@ValueSource(classes = { DefaultKey.class, BodyKey.class, ExpressionKey.class, GuardedController.class })
	void aControllerIsRefusedWithTheReason(Class<?> controller) {
		assertThat(Refusals.of(controller, WebFlux.class))
			.hasMessageStartingWith("@Idempotent on '" + controller.getName() + "#run(String)'")
			.hasMessageContaining("WebFlux")
			.satisfies((failure) -> assertThat(((io.idempotency.IdempotencyConfigurationException) failure).action())
				.contains("Spring MVC"));
	}

	@Test
	void aKeyFromTheRequestIsRefusedOnOtherBeansToo() {
		assertThat(Refusals.of(HeaderOfService.class, WebFlux.class)).hasMessageContaining("WebFlux");
	}

	@Test
	void otherBeansAreGuarded() {
		try (AnnotationConfigApplicationContext context = MethodDoorSetup.start(Service.class, WebFlux.class)) {
			assertThat(context.getBean(Service.class).run("7")).isEqualTo("7");
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
