package io.idempotency.template;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.Internal;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Namespace;
import io.idempotency.protocol.IdempotencyPolicy;
import io.idempotency.protocol.ResultCodec;
import io.idempotency.store.IdempotencyStore;

/**
 * The programmatic door: {@link IdempotencyTemplate} on the engine.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class EngineIdempotencyTemplate implements IdempotencyTemplate {

	private final IdempotencyEngine engine;

	private final IdempotencyStore store;

	private final ResultCodec codec;

	private final IdempotencyPolicy defaults;

	private final TemplateSurroundings surroundings;

	private final TemplateResult.Cache results;

	private final Namespace namespace;

	/**
	 * Creates a template for an application without transactions, with one store, in no
	 * namespace.
	 * @param engine the engine
	 * @param store where records are kept
	 * @param codec encodes results
	 * @param defaults the policy of calls that set nothing else
	 */
	public EngineIdempotencyTemplate(IdempotencyEngine engine, IdempotencyStore store, ResultCodec codec,
			IdempotencyPolicy defaults) {
		this(engine, store, codec, defaults, TemplateSurroundings.NONE, Namespace.NONE);
	}

	/**
	 * Creates a template.
	 * @param engine the engine
	 * @param store the store for calls that name no store
	 * @param codec encodes results
	 * @param defaults the policy of calls that set nothing else
	 * @param surroundings the application
	 * @param namespace the namespace of the operations
	 */
	public EngineIdempotencyTemplate(IdempotencyEngine engine, IdempotencyStore store, ResultCodec codec,
			IdempotencyPolicy defaults, TemplateSurroundings surroundings, Namespace namespace) {
		this.engine = engine;
		this.store = store;
		this.codec = codec;
		this.defaults = defaults;
		this.surroundings = surroundings;
		this.namespace = namespace;
		this.results = new TemplateResult.Cache(codec);
	}

	@Override
	public Call operation(String operation) {
		ResultCodec codec = this.surroundings.codec(operation);
		return new EngineCall(operation, this.engine, this.store, (codec != null) ? codec : this.codec, this.results,
				this.defaults, this.surroundings, this.namespace);
	}

}
