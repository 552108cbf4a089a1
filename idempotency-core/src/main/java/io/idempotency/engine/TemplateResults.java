package io.idempotency.engine;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.IdempotencyMode;

/**
 * The results that calls of a template declare, each type looked at once: the look is
 * reflection and the mapper's, and calls are many. Thread-safe.
 */
final class TemplateResults {

	private final ResultCodec codec;

	private final Map<Type, TemplateResult> replayable = new ConcurrentHashMap<>();

	private final Map<Type, TemplateResult> others = new ConcurrentHashMap<>();

	TemplateResults(ResultCodec codec) {
		this.codec = codec;
	}

	/**
	 * Reads a declared type.
	 * @throws IllegalArgumentException if the mode cannot do with results of it; names
	 * the operation and the type
	 */
	TemplateResult of(String operation, Type declared, IdempotencyMode mode) {
		Map<Type, TemplateResult> known = (mode == IdempotencyMode.REPLAY) ? this.replayable : this.others;
		TemplateResult result = known.get(declared);
		return (result != null) ? result
				: known.computeIfAbsent(declared, (type) -> TemplateResult.of(operation, type, mode, this.codec));
	}

}
