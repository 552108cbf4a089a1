package io.idempotency.aop.operation;

import java.util.ArrayList;
import java.util.List;

import io.idempotency.Idempotent;
import io.idempotency.aop.KeySource;
import io.idempotency.key.HeaderName;
import org.jspecify.annotations.Nullable;

/** Finds the one place of the key for each operation. */
final class KeySourceFinder {

	private final ExpressionParser expressions;

	private final String defaultHeader;

	private final DoorCoverage covered;

	KeySourceFinder(ExpressionParser expressions, String defaultHeader, DoorCoverage covered) {
		this.expressions = expressions;
		this.defaultHeader = defaultHeader;
		this.covered = covered;
	}

	/** Finds the place. */
	KeySource of(IdempotentAnnotation annotation) {
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
		return sources.isEmpty() ? byDoor(annotation) : sources.get(0);
	}

	private KeySource byDoor(IdempotentAnnotation annotation) {
		if (this.covered.isCovered(annotation)) {
			return new KeySource.Header(this.defaultHeader);
		}
		KeySource source = this.covered.defaultKey(annotation);
		if (source != null) {
			return source;
		}
		@Nullable String advice = this.covered.adviceForKey(annotation);
		throw (advice != null) ? annotation.problem("it does not say where the key comes from", advice)
				: annotation.problem("it does not say where the key comes from, and is no controller method",
						"Set key (SpEL over the arguments), header or body");
	}

	private static KeySource header(String name, IdempotentAnnotation annotation) {
		if (!HeaderName.isValid(name)) {
			throw annotation.problem("its header '" + name + "' is no header name",
					"Write the bare name of a header, e.g. \"Idempotency-Key\"");
		}
		return new KeySource.Header(name);
	}

	private static KeySource body(String pointer, IdempotentAnnotation annotation) {
		BodyPointers.check(pointer, "body", annotation::problem);
		return new KeySource.Body(pointer);
	}

}
