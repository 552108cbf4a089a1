package io.idempotency.engine;

import java.lang.reflect.Type;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
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
			CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
			stage.whenComplete((result, failure) -> ended(execution, result, failure, answer));
			return (T) answer;
		}
		complete(execution, value);
		return value;
	}

	@Override
	public final void threw(Execution execution, Throwable failure) {
		boolean kept = execution.policy().mode() == IdempotencyMode.REPLAY
				&& execution.policy().onFailure() == FailureMode.REMEMBER;
		execution.fail(failure, kept ? RememberedFailures.encode(failure) : null);
	}

	/** First the record, then the answer, with the very failure of the method. */
	private void ended(Execution execution, @Nullable Object result, @Nullable Throwable failure,
			CompletableFuture<@Nullable Object> answer) {
		if (failure == null) {
			complete(execution, result);
			answer.complete(result);
			return;
		}
		Throwable cause = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		if (cause instanceof CancellationException || cause instanceof TimeoutException) {
			execution.stopRenewing();
		}
		else if (isDuplicate(cause)) {
			afterDuplicate(execution, cause, answer);
			return;
		}
		else {
			threw(execution, cause);
		}
		answer.completeExceptionally(failure);
	}

	private void complete(Execution execution, @Nullable Object result) {
		if (execution.policy().mode() != IdempotencyMode.REPLAY) {
			execution.tombstone();
			return;
		}
		try {
			execution.complete(this.codec.encode(result, this.type));
		}
		catch (Throwable ex) {
			// After success nothing may delete the record.
			execution.resultNotStored(ex);
		}
	}

	/** What the engine does after a duplicate, for one that is known late. */
	private void afterDuplicate(Execution execution, Throwable duplicate, CompletableFuture<@Nullable Object> answer) {
		CompletionStage<?> found;
		try {
			found = (execution.policy().recoverable() && recover() instanceof CompletionStage<?> stage) ? stage
					: CompletableFuture.completedFuture(null);
		}
		catch (Throwable ex) {
			found = CompletableFuture.failedFuture(ex);
		}
		found.whenComplete((result, failure) -> {
			if (failure == null && result != null) {
				execution.recovered();
				complete(execution, result);
				answer.complete(result);
			}
			else {
				answer.completeExceptionally(execution.unavailable(duplicate, failure));
			}
		});
	}

}
