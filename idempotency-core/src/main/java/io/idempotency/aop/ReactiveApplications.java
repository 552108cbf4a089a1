package io.idempotency.aop;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Controller;

/**
 * Refuses annotations that would need a request of WebFlux: no door guards the handlers
 * of WebFlux, and its requests are bound to no thread.
 */
final class ReactiveApplications {

	/** The name of the bean that handles all requests of WebFlux. */
	private static final String WEB_HANDLER = "webHandler";

	private ReactiveApplications() {
	}

	/**
	 * Checks a method that no door covers.
	 * @throws io.idempotency.IdempotencyConfigurationException if the method is a handler
	 * of WebFlux, or its key is in a request of WebFlux
	 */
	static void check(IdempotentAnnotation annotation, BeanFactory beanFactory) {
		if (!beanFactory.containsBean(WEB_HANDLER)) {
			return;
		}
		if (AnnotatedElementUtils.hasAnnotation(annotation.targetClass(), Controller.class)) {
			throw SetupProblem.of(annotation, "this is a WebFlux application, whose controllers no door guards",
					"Use Spring MVC (spring-boot-starter-web), or put the annotation with a key expression on the bean "
							+ "method that does the work and returns its result or a CompletableFuture of it");
		}
		if (!annotation.attributes().header().isEmpty() || !annotation.attributes().body().isEmpty()) {
			throw SetupProblem.of(annotation,
					"its key is in the request, which no method can see in a WebFlux application",
					"Hand the key to the method and set key, e.g. \"#requestId\"");
		}
	}

}
