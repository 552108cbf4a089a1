package io.idempotency.engine;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

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
	 * @param replayed whether duplicates are to get results of it
	 * @throws IllegalArgumentException if results of it cannot be guarded, or replayed;
	 * names the operation and the type
	 */
	TemplateResult of(String operation, Type declared, boolean replayed) {
		Map<Type, TemplateResult> known = replayed ? this.replayable : this.others;
		TemplateResult result = known.get(declared);
		return (result != null) ? result
				: known.computeIfAbsent(declared, (type) -> TemplateResult.of(operation, type, replayed, this.codec));
	}

}
