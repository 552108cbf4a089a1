package io.idempotency.template;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.protocol.ResultCodec;

/**
 * The results that calls of a template declare. A check of a type needs reflection and
 * the JSON mapper, and there are many calls, so each type is checked once. Thread-safe.
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
	 * @param replayed whether duplicates get results of this type
	 * @throws IllegalArgumentException if results of this type cannot be guarded, or
	 * cannot be replayed; the message names the operation and the type
	 */
	TemplateResult of(String operation, Type declared, boolean replayed) {
		Map<Type, TemplateResult> known = replayed ? this.replayable : this.others;
		TemplateResult result = known.get(declared);
		return (result != null) ? result
				: known.computeIfAbsent(declared, (type) -> TemplateResult.of(operation, type, replayed, this.codec));
	}

}
