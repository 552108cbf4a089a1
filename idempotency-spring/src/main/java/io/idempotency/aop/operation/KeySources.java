package io.idempotency.aop.operation;

import java.util.ArrayList;
import java.util.List;

import io.idempotency.Idempotent;
import io.idempotency.aop.KeySource;
import io.idempotency.key.HeaderName;
import org.jspecify.annotations.Nullable;

/** Finds the one place of the key for each operation. */
final class KeySources {

	private final OperationExpressions expressions;

	private final String defaultHeader;

	KeySources(OperationExpressions expressions, String defaultHeader) {
		this.expressions = expressions;
		this.defaultHeader = defaultHeader;
	}

	/**
	 * Finds the place.
	 * @param covered whether the default header is the place if the annotation names none
	 * @param advice what to write if there is none, {@code null} for a method of which
	 * nothing is known
	 */
	KeySource of(IdempotentAnnotation annotation, boolean covered, @Nullable String advice) {
		List<KeySource> sources = new ArrayList<>();
		Idempotent attributes = annotation.attributes();
		if (!attributes.key().isEmpty()) {
			sources.add(new KeySource.Spel(this.expressions.parse("key", attributes.key(), annotation)));
		}
		if (!attributes.header().isEmpty()) {
			sources.add(header(attributes.header(), annotation));
		}
		if (!attributes.body().isEmpty()) {
			sources.add(body(attributes.body(), annotation));
		}
		if (sources.size() > 1) {
			throw annotation.problem("it has more than one of key, header and body", "Keep the one that holds the key");
		}
		if (sources.isEmpty() && !covered && advice != null) {
			throw annotation.problem("it does not say where the key comes from", advice);
		}
		if (sources.isEmpty() && !covered) {
			throw annotation.problem("it does not say where the key comes from, and is no controller method",
					"Set key (SpEL over the arguments), header or body");
		}
		return sources.isEmpty() ? new KeySource.Header(this.defaultHeader) : sources.get(0);
	}

	private static KeySource header(String name, IdempotentAnnotation annotation) {
		if (!HeaderName.isValid(name)) {
			throw annotation.problem("its header '" + name + "' is no header name",
					"Write the bare name of a header, e.g. \"Idempotency-Key\"");
		}
		return new KeySource.Header(name);
	}

	private static KeySource body(String pointer, IdempotentAnnotation annotation) {
		BodyPointers.check(pointer, "body", annotation);
		return new KeySource.Body(pointer);
	}

}
