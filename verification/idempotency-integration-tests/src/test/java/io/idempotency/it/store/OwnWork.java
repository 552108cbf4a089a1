package io.idempotency.it.store;

import java.util.concurrent.Callable;

import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.ValueAction;
import org.jspecify.annotations.Nullable;

/** Work of a text for an engine without a template. */
public final class OwnWork extends ValueAction<Object> {

	private final Callable<?> work;

	private OwnWork(Callable<?> work, boolean future) {
		super(new Jackson2ResultCodec(), String.class, future);
		this.work = work;
	}

	/**
	 * Work that ends when it returns.
	 * @param work what it does
	 * @return the work
	 */
	public static OwnWork of(Callable<String> work) {
		return new OwnWork(work, false);
	}

	/**
	 * Work that ends with its future.
	 * @param work what it does
	 * @return the work
	 */
	public static OwnWork ofFuture(Callable<?> work) {
		return new OwnWork(work, true);
	}

	@Override
	public Object run() throws Exception {
		return this.work.call();
	}

	@Override
	protected @Nullable Object lookUp() {
		return null;
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return false;
	}

}
