package io.idempotency.interceptor;

import java.lang.reflect.Parameter;
import java.util.Set;
import java.util.stream.Stream;

import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.stereotype.Controller;

/**
 * Rejects annotations on methods that frameworks call in ways that adapters cannot
 * observe: their requests are not bound to a thread, or their responses are not their
 * return values. The classes of the frameworks are referenced by name, because they are
 * optional.
 */
final class UnsupportedCallerCheck {

	private static final String ON_THE_WORK = "move the annotation, with a key expression, to the bean method that "
			+ "does the work";

	private static final Set<String> FUNCTIONAL = Set.of("org.springframework.web.servlet.function.ServerRequest",
			"org.springframework.web.servlet.function.ServerResponse",
			"org.springframework.web.reactive.function.server.ServerRequest",
			"org.springframework.web.reactive.function.server.ServerResponse");

	private static final Set<String> PUBLISHER = Set.of("org.reactivestreams.Publisher");

	private static final Set<String> DATA_REST = Set.of("org.springframework.data.rest.webmvc.RepositoryRestController",
			"org.springframework.data.rest.webmvc.BasePathAwareController");

	private static final Set<String> MESSAGE_HANDLERS = Set.of(
			"org.springframework.messaging.handler.annotation.MessageMapping",
			"org.springframework.messaging.simp.annotation.SubscribeMapping");

	/** The parameter types to which a response is written instead of being returned. */
	private static final Set<String> WRITTEN = Set.of("jakarta.servlet.ServletResponse", "jakarta.servlet.AsyncContext",
			"java.io.OutputStream", "java.io.Writer", "java.nio.channels.WritableByteChannel",
			"org.springframework.http.HttpOutputMessage", "org.springframework.http.ReactiveHttpOutputMessage",
			"org.springframework.web.server.ServerWebExchange",
			"org.springframework.web.reactive.socket.WebSocketSession",
			"org.springframework.web.socket.WebSocketSession",
			"org.springframework.web.context.request.NativeWebRequest",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter");

	private UnsupportedCallerCheck() {
	}

	/**
	 * Checks a method that no adapter covers.
	 * @param hasKeys whether its calls have keys without a web request
	 * @param beanFactory shows the type of the application
	 * @throws io.idempotency.IdempotencyConfigurationException if its calls, its key or
	 * its response could not be observed
	 */
	static void check(IdempotentAnnotation annotation, boolean hasKeys, BeanFactory beanFactory) {
		if (beanFactory.containsBean(MissingModuleCheck.WEB_HANDLER)) {
			checkReactive(annotation, hasKeys);
		}
		if (isFunctional(annotation)) {
			throw annotation.problem(
					"it is a functional endpoint handler (HandlerFunction), which @Idempotent does not support",
					"Guard its route with a filter of the bean IdempotentRoutes, use an annotated controller, or "
							+ ON_THE_WORK + ", and pass the key to it, e.g. "
							+ "request.headers().firstHeader(\"Idempotency-Key\")");
		}
		MergedAnnotations ofClass = MergedAnnotations.from(annotation.targetClass(), SearchStrategy.TYPE_HIERARCHY);
		if (DATA_REST.stream().anyMatch(ofClass::isPresent)) {
			throw annotation
				.problem("it is a Spring Data REST controller (@RepositoryRestController), which @Idempotent does not "
						+ "support", "Use @RestController, or " + ON_THE_WORK);
		}
		checkMessageHandler(annotation);
		checkWritten(annotation);
	}

	private static void checkReactive(IdempotentAnnotation annotation, boolean hasKeys) {
		if (AnnotatedElementUtils.hasAnnotation(annotation.targetClass(), Controller.class)) {
			throw annotation.problem("it is a method of a WebFlux controller, but not a request handler",
					"Put the annotation on a request handler, use Spring MVC (spring-boot-starter-web), or "
							+ ON_THE_WORK + " and returns its result or a CompletableFuture of it");
		}
		if (!hasKeys && !annotation.attributes().body().isEmpty()) {
			throw annotation.problem(
					"its key is in the request body, which a bean method of a WebFlux application cannot read",
					"Pass the key to the method and set key, e.g. \"#requestId\"");
		}
		if (!hasKeys && hasKeyOfRequest(annotation) && !isPublisher(annotation)) {
			throw annotation.problem(
					"its key is in the request, which only a method that returns a publisher can read in a WebFlux "
							+ "application",
					"Return a Mono or a Flux, or pass the key to the method and set key, e.g. \"#requestId\"");
		}
	}

	private static boolean isPublisher(IdempotentAnnotation annotation) {
		return DeferredResultTypes.isSuspend(annotation.method())
				|| ArgumentFingerprinter.is(annotation.method().getReturnType(), PUBLISHER);
	}

	private static boolean isFunctional(IdempotentAnnotation annotation) {
		return Stream
			.concat(Stream.of(annotation.method().getReturnType()), Stream.of(annotation.method().getParameterTypes()))
			.anyMatch((type) -> ArgumentFingerprinter.is(type, FUNCTIONAL));
	}

	/** Rejects keys that a WebSocket or RSocket message does not have. */
	private static void checkMessageHandler(IdempotentAnnotation annotation) {
		MergedAnnotations present = MergedAnnotations.from(annotation.method(), SearchStrategy.TYPE_HIERARCHY);
		// The listener annotations of brokers are meta-annotated with @MessageMapping.
		if (annotation.attributes().key().isEmpty() && MESSAGE_HANDLERS.stream().anyMatch(present::isDirectlyPresent)) {
			throw annotation.problem("it handles messages (@MessageMapping), which have no HTTP request with a key",
					"Set key to an expression over the payload or a message header, e.g. key = \"#id\" with the "
							+ "parameter @Header(\"Idempotency-Key\") String id. The caller is not part of such a "
							+ "key. If clients choose their keys, set scope to the user");
		}
	}

	private static boolean hasKeyOfRequest(IdempotentAnnotation annotation) {
		return !annotation.attributes().header().isEmpty() || !annotation.attributes().body().isEmpty();
	}

	/** Rejects a method whose duplicate would not write a response. */
	private static void checkWritten(IdempotentAnnotation annotation) {
		Idempotent attributes = annotation.attributes();
		if (attributes.mode() != IdempotencyMode.REPLAY || !attributes.keepResult()) {
			return;
		}
		for (Parameter parameter : annotation.method().getParameters()) {
			if (ArgumentFingerprinter.is(parameter.getType(), WRITTEN)) {
				throw annotation.problem(
						"output that it writes to its parameter of type " + parameter.getType().getSimpleName()
								+ " is not stored, so a duplicate would receive nothing",
						"Return the output, put the annotation on the controller method, or reject duplicates with "
								+ "mode = IdempotencyMode.REJECT or keepResult = false");
			}
		}
	}

}
