package io.idempotency.interceptor;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Rejects guarded methods that need an optional module of this library if the module is
 * missing. The annotations of frameworks and the classes of the modules are referenced by
 * name, because all of them are optional.
 */
final class MissingModuleCheck {

	/** The name of the bean that handles all requests of a WebFlux application. */
	static final String WEB_HANDLER = "webHandler";

	private static final List<Module> BY_ANNOTATION = List.of(
			new Module("idempotency-messaging", "a message listener",
					"io.idempotency.messaging.IdempotencyMessagingAutoConfiguration",
					List.of("org.springframework.kafka.annotation.KafkaListener",
							"org.springframework.kafka.annotation.KafkaHandler",
							"org.springframework.amqp.rabbit.annotation.RabbitListener",
							"org.springframework.amqp.rabbit.annotation.RabbitHandler",
							"org.springframework.jms.annotation.JmsListener")),
			new Module("idempotency-graphql", "a GraphQL field",
					"io.idempotency.graphql.IdempotencyGraphQlAutoConfiguration",
					List.of("org.springframework.graphql.data.method.annotation.SchemaMapping",
							"org.springframework.graphql.data.method.annotation.BatchMapping")),
			new Module("idempotency-ai", "an AI tool", "io.idempotency.ai.IdempotencyAiAutoConfiguration",
					List.of("org.springframework.ai.tool.annotation.Tool",
							"org.springframework.ai.mcp.annotation.McpTool",
							"org.springaicommunity.mcp.annotation.McpTool")));

	private static final Module WEBFLUX = new Module("idempotency-spring-boot-starter-webflux",
			"a request handler of a WebFlux application", "io.idempotency.webflux.ReactiveIdempotencyScopeResolver",
			List.of("org.springframework.web.bind.annotation.RequestMapping"));

	private static final Module REACTOR = new Module("idempotency-reactor", "a method with a reactive result",
			"io.idempotency.reactor.ReactiveIdempotencyTemplate", List.of());

	private static final Set<String> PUBLISHERS = Set.of("reactor.core.publisher.Mono", "reactor.core.publisher.Flux");

	private MissingModuleCheck() {
	}

	/**
	 * Checks a method.
	 * @param covered whether an adapter supports the method with any result
	 * @throws io.idempotency.IdempotencyConfigurationException if a module is missing;
	 * the action contains the artifact
	 */
	static void check(IdempotentAnnotation annotation, boolean covered, ConfigurableListableBeanFactory beanFactory) {
		ClassLoader loader = beanFactory.getBeanClassLoader();
		BY_ANNOTATION.forEach((module) -> module.check(annotation, loader));
		if (!covered && beanFactory.containsBean(WEB_HANDLER)) {
			WEBFLUX.check(annotation, loader);
		}
	}

	/**
	 * Checks the result of a method that no adapter supports with any result.
	 * @throws io.idempotency.IdempotencyConfigurationException if a module is missing
	 */
	static void checkResult(IdempotentAnnotation annotation, ConfigurableListableBeanFactory beanFactory) {
		if (DeferredResultTypes.isSuspend(annotation.method())
				|| ArgumentFingerprinter.is(annotation.method().getReturnType(), PUBLISHERS)) {
			REACTOR.require(annotation, beanFactory.getBeanClassLoader());
		}
	}

	/** Registers the class names, which a native image finds only with a hint. */
	static final class Hints implements RuntimeHintsRegistrar {

		@Override
		public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
			Stream.concat(BY_ANNOTATION.stream(), Stream.of(WEBFLUX, REACTOR))
				.forEach((module) -> hints.reflection()
					.registerTypeIfPresent(classLoader, module.marker, new MemberCategory[0]));
		}

	}

	/**
	 * A module.
	 *
	 * @param artifact the artifact to add
	 * @param kind the methods that need it, for messages
	 * @param marker a class of the module
	 * @param annotations the annotations of the methods that need it
	 */
	private record Module(String artifact, String kind, String marker, List<String> annotations) {

		void check(IdempotentAnnotation annotation, ClassLoader loader) {
			MergedAnnotations present = MergedAnnotations.from(annotation.method(), SearchStrategy.TYPE_HIERARCHY);
			if (this.annotations.stream().anyMatch(present::isPresent)) {
				require(annotation, loader);
			}
		}

		void require(IdempotentAnnotation annotation, ClassLoader loader) {
			if (!ClassUtils.isPresent(this.marker, loader)) {
				throw annotation.problem("it is " + this.kind + ", and " + this.artifact + " is not on the class path",
						"Add the dependency io.idempotency:" + this.artifact);
			}
		}

	}

}
