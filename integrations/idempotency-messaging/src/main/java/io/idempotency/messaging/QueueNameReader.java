package io.idempotency.messaging;

import java.lang.annotation.Annotation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.idempotency.interceptor.IdempotentOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/** Reads the names of queues from the annotations of listeners at startup. */
final class QueueNameReader {

	private final UnaryOperator<@Nullable String> placeholders;

	/**
	 * Creates the reader.
	 * @param placeholders replaces placeholders
	 */
	QueueNameReader(UnaryOperator<@Nullable String> placeholders) {
		this.placeholders = placeholders;
	}

	/**
	 * Returns the only queue or JMS destination of a listener.
	 * @return the name, {@code null} if there are several, or none that is known yet
	 */
	@Nullable String read(ListenerKind kind, IdempotentOperation operation) {
		List<MergedAnnotation<?>> listeners = listeners(kind, operation);
		if (listeners.size() != 1) {
			return null;
		}
		return switch (kind) {
			case RABBIT -> rabbitQueue(listeners.get(0));
			case JMS -> destination(listeners.get(0));
			case KAFKA -> null;
		};
	}

	private static List<MergedAnnotation<?>> listeners(ListenerKind kind, IdempotentOperation operation) {
		return Stream.of(operation.guarded().method(), operation.guarded().targetClass())
			.<List<MergedAnnotation<?>>>map((element) -> {
				List<MergedAnnotation<?>> found = new ArrayList<>();
				MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY)
					.stream(kind.annotation())
					.forEach(found::add);
				return found;
			})
			.filter((found) -> !found.isEmpty())
			.findFirst()
			.orElse(List.of());
	}

	private @Nullable String rabbitQueue(MergedAnnotation<?> listener) {
		Class<Annotation> queue = annotation("org.springframework.amqp.rabbit.annotation.Queue");
		List<String> names = new ArrayList<>(List.of(listener.getStringArray("queues")));
		for (MergedAnnotation<?> declared : listener.getAnnotationArray("queuesToDeclare", queue)) {
			names.add(declared.getString("name"));
		}
		for (MergedAnnotation<?> binding : listener.getAnnotationArray("bindings",
				annotation("org.springframework.amqp.rabbit.annotation.QueueBinding"))) {
			names.add(binding.getAnnotation("value", queue).getString("name"));
		}
		return (names.size() == 1) ? known(names.get(0)) : null;
	}

	/** The annotations of a broker are present where one of its listeners is. */
	@SuppressWarnings("unchecked")
	private static Class<Annotation> annotation(String name) {
		return (Class<Annotation>) ClassUtils.resolveClassName(name, QueueNameReader.class.getClassLoader());
	}

	/** A JMS topic delivers every message to each of its subscriptions. */
	private @Nullable String destination(MergedAnnotation<?> listener) {
		String destination = known(listener.getString("destination"));
		String subscription = listener.getString("subscription");
		if (destination == null || subscription.isEmpty()) {
			return destination;
		}
		String name = known(subscription);
		return (name != null) ? destination + "/" + name : null;
	}

	/**
	 * Returns the name without placeholders, {@code null} for an expression and for a
	 * queue that the broker names.
	 */
	private @Nullable String known(String name) {
		String resolved = this.placeholders.apply(name);
		return (resolved == null || resolved.isEmpty() || resolved.contains("#{")) ? null : resolved;
	}

}
