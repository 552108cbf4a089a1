package io.idempotency.engine;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.Internal;
import io.idempotency.key.Namespace;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.IdempotencyStore;

/**
 * The programmatic door: {@link IdempotencyTemplate} on the engine.
 *
 * @hidden
 */
@Internal
public final class EngineIdempotencyTemplate implements IdempotencyTemplate {

	final IdempotencyEngine engine;

	final IdempotencyStore store;

	private final ResultCodec codec;

	final IdempotencyOptions defaults;

	final TemplateEnvironment environment;

	/**
	 * A check of a type needs reflection and the JSON mapper, and there are many calls,
	 * so each type is checked once.
	 */
	private final Map<Type, TemplateResult> replayable = new ConcurrentHashMap<>();

	private final Map<Type, TemplateResult> others = new ConcurrentHashMap<>();

	final Namespace namespace;

	/**
	 * Creates a template for an application without transactions, with one store, in no
	 * namespace.
	 * @param store where records are kept
	 * @param codec encodes results
	 * @param defaults the defaults of the options
	 */
	public EngineIdempotencyTemplate(IdempotencyEngine engine, IdempotencyStore store, ResultCodec codec,
			IdempotencyOptions defaults) {
		this(engine, store, codec, defaults, TemplateEnvironment.NONE, Namespace.NONE);
	}

	/**
	 * Creates a template.
	 * @param store the store for calls that name no store
	 * @param codec encodes results
	 * @param defaults the defaults of the options
	 * @param environment the application
	 * @param namespace the namespace of the operations
	 */
	public EngineIdempotencyTemplate(IdempotencyEngine engine, IdempotencyStore store, ResultCodec codec,
			IdempotencyOptions defaults, TemplateEnvironment environment, Namespace namespace) {
		this.engine = engine;
		this.store = store;
		this.codec = codec;
		this.defaults = defaults;
		this.environment = environment;
		this.namespace = namespace;
	}

	@Override
	public Call operation(String operation) {
		return new EngineCall(operation, this);
	}

	/**
	 * Describes a call for another engine.
	 * @param <T> the type of the result
	 * @param operation name of the operation
	 * @param description gives the call its key and the rest
	 * @param type the type as which a stored result is decoded
	 * @throws io.idempotency.IdempotencyException if the call has no key
	 * @throws IllegalArgumentException if results of the type cannot be replayed, or the
	 * call contradicts itself
	 */
	public <T> DescribedCall<T> describe(String operation, Consumer<? super Call> description, Type type) {
		EngineCall call = new EngineCall(operation, this);
		description.accept(call);
		return call.describe(type);
	}

	ResultCodec codec(String operation) {
		ResultCodec own = this.environment.codec(operation);
		return (own != null) ? own : this.codec;
	}

	TemplateResult result(String operation, Type declared, boolean replayed) {
		Map<Type, TemplateResult> known = replayed ? this.replayable : this.others;
		TemplateResult result = known.get(declared);
		return (result != null) ? result : known.computeIfAbsent(declared,
				(type) -> TemplateResult.of(operation, type, replayed, this.codec, this.environment::isDeferred));
	}

}
