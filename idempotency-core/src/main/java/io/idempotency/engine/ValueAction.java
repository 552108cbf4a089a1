package io.idempotency.engine;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.RememberedFailureException;
import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * An action whose results are values. A codec encodes them, and decodes them again for
 * every duplicate.
 *
 * @param <T> the result of the guarded method
 * @hidden
 */
@Internal
public abstract class ValueAction<T> implements GuardedAction<T> {

	private final ResultCodec codec;

	private final Type type;

	private final boolean async;

	/**
	 * Creates the action of one call.
	 * @param codec encodes and decodes
	 * @param type declared type of the value; of an asynchronous result, the type inside
	 * it
	 * @param async whether {@code T} is a {@link CompletableFuture} or
	 * {@link CompletionStage}
	 */
	protected ValueAction(ResultCodec codec, Type type, boolean async) {
		this.codec = codec;
		this.type = type;
		this.async = async;
	}

	@Override
	public final boolean isAsync() {
		return this.async;
	}

	/**
	 * Looks up the result. For an asynchronous action the lookup may return the value
	 * itself or a future of it.
	 */
	@Override
	@SuppressWarnings("unchecked")
	public final @Nullable T recover() throws Throwable {
		Object found = lookUp();
		boolean bare = this.async && found != null && !(found instanceof CompletionStage<?>);
		return (T) (bare ? CompletableFuture.completedFuture(found) : found);
	}

	/**
	 * Looks up the result in the business data.
	 * @return the result, {@code null} if the lookup found no result
	 * @throws Throwable any exception of the lookup
	 */
	protected abstract @Nullable Object lookUp() throws Throwable;

	@Override
	@SuppressWarnings("unchecked")
	public final @Nullable T replay(StoredResult result) throws Throwable {
		if (RememberedFailureCodec.isFailure(result)) {
			RememberedFailureException failure = RememberedFailureCodec.decode(result);
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
			throw new UnreadableResultException("A result of type " + this.type.getTypeName() + " cannot be decoded",
					ex);
		}
		return (T) (this.async ? CompletableFuture.completedFuture(value) : value);
	}

	@Override
	public CallOutcome returned(@Nullable Object value, boolean recovered) {
		return new CallOutcome.Done(() -> this.codec.encode(value, this.type));
	}

	@Override
	public final CallOutcome threw(Throwable failure) {
		if (failure instanceof IdempotencyStoreUnavailableException rejection
				&& rejection.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED) {
			// It is the failure of a nested call, whose thread may not be this one.
			return CallOutcome.OUT_OF_SIGHT;
		}
		return isRejectedBefore(failure) ? new CallOutcome.NotRun(failure)
				: new CallOutcome.Failed(failure, () -> RememberedFailureCodec.encode(failure,
						(failure instanceof IdempotencyException rejection) ? rejection.status() : statusOf(failure),
						told(failure)));
	}

	/**
	 * Returns whether a failure shows that the method has not run.
	 * @param failure the exception
	 * @return whether the arguments were rejected before the method ran
	 */
	protected boolean isRejectedBefore(Throwable failure) {
		return false;
	}

	/**
	 * Returns the HTTP status that a failure requests. It is stored together with the
	 * failure.
	 * @param failure the exception of the guarded method
	 * @return the status, 0 if the failure does not request one
	 */
	protected int statusOf(Throwable failure) {
		return 0;
	}

	/**
	 * Returns the text that the adapter sends to its client for a failure. It is stored
	 * together with the failure.
	 * @param failure the exception of the guarded method
	 * @return the text, {@code null} if the exception is sufficient
	 */
	protected @Nullable String told(Throwable failure) {
		return null;
	}

	/**
	 * Turns failures into stored results and back. The first line of the text is the
	 * type. The second line is the HTTP status, followed by the text of the adapter. The
	 * rest is the message. An object is never stored.
	 */
	private static final class RememberedFailureCodec {

		private static final String FORMAT = "failure2";

		private RememberedFailureCodec() {
		}

		/**
		 * Creates the stored form.
		 * @param status the HTTP status that the failure requests, 0 for none
		 * @param told the text that the adapter sends to its client, {@code null} without
		 * such a text
		 */
		static StoredResult encode(Throwable failure, int status, @Nullable String told) {
			String behind = (told != null)
					? ' ' + Base64.getEncoder().encodeToString(told.getBytes(StandardCharsets.UTF_8)) : "";
			String text = failure.getClass().getName() + '\n' + status + behind + '\n' + message(failure);
			return new StoredResult(FORMAT, text.getBytes(StandardCharsets.UTF_8));
		}

		private static String message(Throwable failure) {
			String message;
			try {
				message = failure.getMessage();
			}
			catch (RuntimeException ex) {
				// The application's own code failed; the type is worth storing without a
				// message.
				message = null;
			}
			return (message != null) ? message : "";
		}

		static boolean isFailure(StoredResult result) {
			return FORMAT.equals(result.format());
		}

		static RememberedFailureException decode(StoredResult result) {
			String text = new String(result.bytes(), StandardCharsets.UTF_8);
			String[] parts = text.split("\n", 3);
			try {
				String[] answer = parts[1].split(" ", 2);
				RememberedFailureException failure = new RememberedFailureException(parts[0], parts[2],
						Integer.parseInt(answer[0]));
				if (answer.length > 1) {
					failure.initCause(new ReportedFailure(
							new String(Base64.getDecoder().decode(answer[1]), StandardCharsets.UTF_8)));
				}
				return failure;
			}
			catch (IndexOutOfBoundsException | IllegalArgumentException ex) {
				throw new UnreadableResultException("A remembered failure cannot be decoded", ex);
			}
		}

	}

	/**
	 * The cause of a replayed failure for which the adapter stored the text for the first
	 * client. It has no stack trace, because nothing failed again. Immutable.
	 *
	 * @hidden
	 */
	public static final class ReportedFailure extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final String text;

		/**
		 * Creates the cause.
		 * @param text the text that was sent, as the adapter wrote it; never in a message
		 */
		public ReportedFailure(String text) {
			super("The first call failed with this exception", null, false, false);
			this.text = text;
		}

		/** Returns the text that was sent to the first client. */
		public String text() {
			return this.text;
		}

	}

}
