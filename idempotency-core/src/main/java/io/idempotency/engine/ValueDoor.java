package io.idempotency.engine;

import java.lang.reflect.Type;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;

import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * A door whose results are values: they are encoded by a codec, and decoded anew for
 * every duplicate. A {@link CompletableFuture} completes the record when it completes;
 * what the caller gets completes after the record.
 * <p>
 * A future that is cancelled or times out says nothing about its work, which may still
 * act: the claim is then left to its lease.
 *
 * @param <T> what the guarded method gives
 * @since 0.1.0
 */
public abstract class ValueDoor<T> implements Door<T> {

	private final ResultCodec codec;

	private final Type type;

	private final boolean async;

	/**
	 * Creates a door for one call.
	 * @param codec encodes and decodes
	 * @param type declared type of the value; of an asynchronous result, the type inside
	 * it
	 * @param async whether {@code T} is a {@link CompletableFuture} or
	 * {@link CompletionStage}
	 */
	protected ValueDoor(ResultCodec codec, Type type, boolean async) {
		this.codec = codec;
		this.type = type;
		this.async = async;
	}

	@Override
	public void acquired(Execution execution) {
		// Values need no preparation.
	}

	@Override
	@SuppressWarnings("unchecked")
	public final @Nullable T replay(StoredResult result) throws Throwable {
		if (RememberedFailures.isFailure(result)) {
			RememberedFailureException failure = RememberedFailures.decode(result);
			if (this.async) {
				return (T) CompletableFuture.failedFuture(failure);
			}
			throw failure;
		}
		Object value;
		try {
			value = this.codec.decode(result, this.type);
		}
		catch (UnreadableResultException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new UnreadableResultException("A result of type " + this.type.getTypeName(), ex);
		}
		return (T) (this.async ? CompletableFuture.completedFuture(value) : value);
	}

	@Override
	@SuppressWarnings("unchecked")
	public final @Nullable T returned(@Nullable Execution execution, @Nullable T value, boolean recovered) {
		if (execution == null) {
			return value;
		}
		if (this.async && value instanceof CompletionStage<?> stage) {
			return (T) stage.handle((result, failure) -> ended(execution, result, failure))
				.toCompletableFuture()
				.thenCompose((end) -> end);
		}
		execution.complete(this.codec.encode(value, this.type));
		return value;
	}

	@Override
	public final void threw(Execution execution, Throwable failure) {
		boolean kept = execution.policy().mode() == IdempotencyMode.REPLAY;
		execution.fail(failure, kept ? RememberedFailures.encode(failure) : null);
	}

	private CompletableFuture<@Nullable Object> ended(Execution execution, @Nullable Object result,
			@Nullable Throwable failure) {
		if (failure == null) {
			complete(execution, result);
			return CompletableFuture.completedFuture(result);
		}
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		if (cause instanceof CancellationException || cause instanceof TimeoutException) {
			execution.stopRenewing();
		}
		else if (isDuplicate(cause)) {
			return afterDuplicate(execution, cause);
		}
		else {
			threw(execution, cause);
		}
		return CompletableFuture.failedFuture(cause);
	}

	private void complete(Execution execution, @Nullable Object result) {
		try {
			execution.complete(this.codec.encode(result, this.type));
		}
		catch (Throwable ex) {
			// After success nothing may delete the record.
			execution.resultNotStored(ex);
		}
	}

	@SuppressWarnings("unchecked")
	private CompletableFuture<@Nullable Object> afterDuplicate(Execution execution, Throwable duplicate) {
		IdempotencyResultUnavailableException refusal = new IdempotencyResultUnavailableException(
				execution.operation());
		refusal.addSuppressed(duplicate);
		try {
			T recovered = execution.policy().recoverable() ? recover() : null;
			if (recovered instanceof CompletionStage<?> stage) {
				return ((CompletionStage<@Nullable Object>) stage).whenComplete((result, failure) -> {
					if (failure == null) {
						complete(execution, result);
					}
					else {
						execution.tombstone();
					}
				}).toCompletableFuture();
			}
		}
		catch (Throwable ex) {
			refusal.addSuppressed(ex);
		}
		execution.tombstone();
		return CompletableFuture.failedFuture(refusal);
	}

}
