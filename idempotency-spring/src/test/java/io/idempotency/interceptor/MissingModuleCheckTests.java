package io.idempotency.interceptor;

import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.reactor.ReactiveIdempotencyTemplate;
import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.amqp.rabbit.annotation.RabbitHandler;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class MissingModuleCheckTests {

	@ParameterizedTest
	@MethodSource
	void failsAndNamesTheArtifactWhenTheModuleIsMissing(Class<?> bean, String artifact) {
		IdempotencyConfigurationException failure = catchThrowableOfType(IdempotencyConfigurationException.class,
				() -> start(bean));
		assertThat(failure).hasMessageStartingWith("@Idempotent on '" + bean.getName() + "#run(")
			.hasMessageContaining(artifact + " is not on the class path");
		assertThat(failure.action()).isEqualTo("Add the dependency io.idempotency:" + artifact);
	}

	static Stream<Arguments> failsAndNamesTheArtifactWhenTheModuleIsMissing() {
		return Stream.of(Arguments.of(Kafka.class, "idempotency-messaging"),
				Arguments.of(KafkaByType.class, "idempotency-messaging"),
				Arguments.of(Rabbit.class, "idempotency-messaging"),
				Arguments.of(RabbitByType.class, "idempotency-messaging"),
				Arguments.of(Jms.class, "idempotency-messaging"), Arguments.of(One.class, "idempotency-reactor"),
				Arguments.of(Many.class, "idempotency-reactor"), Arguments.of(Suspend.class, "idempotency-reactor"));
	}

	@Test
	void failsAndNamesTheStarterOfWebFlux() {
		IdempotencyConfigurationException failure = catchThrowableOfType(IdempotencyConfigurationException.class,
				() -> start(ReactiveHandler.class, UnsupportedCallerCheckTests.WebFlux.class));
		assertThat(failure.action())
			.isEqualTo("Add the dependency io.idempotency:idempotency-spring-boot-starter-webflux");
	}

	@Test
	void findsModulesInNativeImages() {
		RuntimeHints hints = new RuntimeHints();
		new MissingModuleCheck.Hints().registerHints(hints, getClass().getClassLoader());
		assertThat(RuntimeHintsPredicates.reflection().onType(ReactiveIdempotencyTemplate.class)).accepts(hints);
	}

	private static void start(Class<?>... beans) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.setClassLoader(new FilteredClassLoader("io.idempotency.messaging", "io.idempotency.reactor",
					"io.idempotency.webflux"));
			context.register(MethodAdapterSetup.class);
			context.register(beans);
			context.refresh();
		}
	}

	public static class Kafka {

		@KafkaListener(topics = "orders")
		@Idempotent(key = "#a0")
		public void run(String order) {
		}

	}

	@KafkaListener(topics = "orders")
	public static class KafkaByType {

		@KafkaHandler
		@Idempotent(key = "#a0")
		public void run(String order) {
		}

	}

	public static class Rabbit {

		@RabbitListener(queues = "orders")
		@Idempotent(key = "#a0")
		public void run(String order) {
		}

	}

	@RabbitListener(queues = "orders")
	public static class RabbitByType {

		@RabbitHandler
		@Idempotent(key = "#a0")
		public void run(String order) {
		}

	}

	public static class Jms {

		@JmsListener(destination = "orders")
		@Idempotent(key = "#a0")
		public void run(String order) {
		}

	}

	public static class One {

		@Idempotent(key = "#a0")
		public Mono<String> run(String order) {
			return Mono.just(order);
		}

	}

	public static class Many {

		@Idempotent(key = "#a0")
		public Flux<String> run(String order) {
			return Flux.just(order);
		}

	}

	public static class Suspend {

		@Idempotent(key = "#a0")
		public Object run(String order, Continuation<? super String> continuation) {
			return order;
		}

	}

	@RestController
	public static class ReactiveHandler {

		@PostMapping("/orders")
		@Idempotent
		public Mono<String> run(String order) {
			return Mono.just(order);
		}

	}

}
