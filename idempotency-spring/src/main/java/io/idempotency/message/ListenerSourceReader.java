package io.idempotency.message;

import java.lang.annotation.Annotation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

import io.idempotency.aop.IdempotentOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/** Reads the name of the one queue or topic that a listener names, at start-up. */
final class ListenerSourceReader {

	private final UnaryOperator<String> placeholders;

	/**
	 * Creates the reader.
	 * @param placeholders replaces placeholders
	 */
	ListenerSourceReader(UnaryOperator<String> placeholders) {
		this.placeholders = placeholders;
	}

	/**
	 * Returns the source.
	 * @return the name, {@code null} if there are several, or none that is known yet
	 */
	@Nullable String of(ListenerKind kind, IdempotentOperation operation) {
		List<MergedAnnotation<?>> listeners = listeners(kind, operation);
		if (listeners.size() != 1) {
			return null;
		}
		return switch (kind) {
			case RABBIT -> queue(listeners.get(0));
			case JMS -> destination(listeners.get(0));
			case KAFKA, EVENT -> null;
		};
	}

	private static List<MergedAnnotation<?>> listeners(ListenerKind kind, IdempotentOperation operation) {
		List<MergedAnnotation<?>> listeners = new ArrayList<>();
		MergedAnnotations.from(operation.guarded().method(), SearchStrategy.TYPE_HIERARCHY)
			.stream(kind.annotation())
			.forEach(listeners::add);
		if (listeners.isEmpty()) {
			MergedAnnotations.from(operation.guarded().targetClass(), SearchStrategy.TYPE_HIERARCHY)
				.stream(kind.annotation())
				.forEach(listeners::add);
		}
		return listeners;
	}

	private @Nullable String queue(MergedAnnotation<?> listener) {
		List<String> names = new ArrayList<>(List.of(listener.getStringArray("queues")));
		for (MergedAnnotation<?> queue : listener.getAnnotationArray("queuesToDeclare", annotation("Queue"))) {
			names.add(queue.getString("name"));
		}
		for (MergedAnnotation<?> binding : listener.getAnnotationArray("bindings", annotation("QueueBinding"))) {
			names.add(binding.getAnnotation("value", annotation("Queue")).getString("name"));
		}
		return (names.size() == 1) ? known(names.get(0)) : null;
	}

	/** The annotation types of RabbitMQ may be absent; a listener of it brings them. */
	@SuppressWarnings("unchecked")
	private static Class<Annotation> annotation(String name) {
		return (Class<Annotation>) ClassUtils.resolveClassName("org.springframework.amqp.rabbit.annotation." + name,
				ListenerSourceReader.class.getClassLoader());
	}

	/** A topic gives each of its subscriptions every message. */
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
		return (resolved.isEmpty() || resolved.contains("#{")) ? null : resolved;
	}

}
