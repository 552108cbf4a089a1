package io.idempotency.template;

import java.util.Set;
import java.util.concurrent.Callable;

import io.idempotency.engine.ValueAction;
import io.idempotency.protocol.ResultCodec;
import org.jspecify.annotations.Nullable;

/**
 * Translates one call of a template for the engine.
 *
 * @param <T> the result of the action
 */
final class SuppliedAction<T> extends ValueAction<T> {

	private final Callable<? extends @Nullable T> action;

	private final @Nullable Callable<?> recovery;

	private final Set<Class<? extends Throwable>> duplicateOn;

	private final TemplateSurroundings surroundings;

	SuppliedAction(ResultCodec codec, TemplateResult result, Callable<? extends @Nullable T> action,
			@Nullable Callable<?> recovery, Set<Class<? extends Throwable>> duplicateOn,
			TemplateSurroundings surroundings) {
		super(codec, result.type(), result.async());
		this.action = action;
		this.recovery = recovery;
		this.duplicateOn = duplicateOn;
		this.surroundings = surroundings;
	}

	@Override
	public @Nullable T run() throws Throwable {
		return this.action.call();
	}

	@Override
	protected @Nullable Object lookUp() throws Throwable {
		return (this.recovery != null) ? this.recovery.call() : null;
	}

	@Override
	protected int statusOf(Throwable failure) {
		return this.surroundings.statusOf(failure);
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return this.duplicateOn.stream().anyMatch((type) -> type.isInstance(failure));
	}

}
