package io.idempotency.engine;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

import io.idempotency.codec.ResultCodec;
import org.jspecify.annotations.Nullable;

/**
 * The result that a call of a template declares, by the rules of annotated methods.
 *
 * @param type the type of the value
 * @param async whether the value comes inside a {@link CompletionStage}
 */
record TemplateResult(Type type, boolean async) {

	/**
	 * Reads a declared type.
	 * @param replayed whether duplicates get results of this type
	 * @param deferred whether the work of a type continues after the action returned
	 * @throws IllegalArgumentException if results of this type cannot be guarded, or
	 * cannot be replayed; the message names the operation and the type
	 */
	static TemplateResult of(String operation, Type declared, boolean replayed, ResultCodec codec,
			Predicate<Type> deferred) {
		TemplateResult result = of(operation, declared);
		if (deferred.test(result.type)) {
			throw refused(operation, declared,
					"its work may go on when the action has returned, and when it ends cannot be seen");
		}
		String problem = replayed ? codec.unsupported(result.type) : null;
		if (problem != null) {
			throw refused(operation, declared, "it cannot be kept for a replay: " + problem);
		}
		return result;
	}

	private static TemplateResult of(String operation, Type declared) {
		if (isFuture(declared)) {
			throw refused(operation, declared,
					"it does not say what is inside: use executeAsync with the type of the value");
		}
		if (declared instanceof ParameterizedType generic && isFuture(generic.getRawType())) {
			return new TemplateResult(generic.getActualTypeArguments()[0], true);
		}
		return new TemplateResult(declared, false);
	}

	private static boolean isFuture(@Nullable Type type) {
		return type == CompletableFuture.class || type == CompletionStage.class;
	}

	private static IllegalArgumentException refused(String operation, Type declared, String problem) {
		return new IllegalArgumentException(
				"A result of '" + operation + "' cannot be declared as " + declared.getTypeName() + ": " + problem);
	}

}
