package io.idempotency.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import io.idempotency.engine.ResultCodec;
import io.idempotency.engine.ValueDoor;
import org.jspecify.annotations.Nullable;

/** Translates one call of a method for the engine. */
final class MethodCallDoor extends ValueDoor<Object> {

	private final OperationCall call;

	MethodCallDoor(OperationCall call, ResultCodec codec) {
		super(codec, call.operation().resultType(), call.operation().async());
		this.call = call;
	}

	@Override
	public @Nullable Object run() throws Throwable {
		return this.call.run();
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return this.call.isDuplicate(failure);
	}

	/**
	 * Of an asynchronous method the look-up is waited for: only its value says whether
	 * anything happened.
	 */
	@Override
	public @Nullable Object recover() throws Throwable {
		Object recovered = this.call.recover();
		if (!this.call.operation().async()) {
			return recovered;
		}
		Object value = (recovered instanceof CompletionStage<?> stage) ? await(stage) : recovered;
		if (value == null) {
			return null;
		}
		return CompletableFuture.completedFuture((this.call.operation().resultType() != Void.class) ? value : null);
	}

	private static @Nullable Object await(CompletionStage<?> stage) throws Throwable {
		try {
			return stage.toCompletableFuture().join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() != null) ? ex.getCause() : ex;
		}
	}

}
