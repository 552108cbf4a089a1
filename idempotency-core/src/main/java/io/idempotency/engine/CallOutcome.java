package io.idempotency.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.Internal;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a guarded call, as its adapter saw it. Only the engine decides what
 * happens to the claim, by mode and policy.
 *
 * <table class="striped">
 * <caption>What the engine does</caption> <thead>
 * <tr>
 * <th>ending</th>
 * <th>store</th>
 * </tr>
 * </thead> <tbody>
 * <tr>
 * <td>{@link Done}</td>
 * <td>complete; in mode {@code LOCK}: forget; if the application asked for it: release;
 * in mode {@code REJECT}: nothing, because the claim is final</td>
 * </tr>
 * <tr>
 * <td>{@link SuccessWithoutResult}</td>
 * <td>as for {@link Done}, but completed without a stored result</td>
 * </tr>
 * <tr>
 * <td>{@link Failed}</td>
 * <td>release, or complete with the remembered failure</td>
 * </tr>
 * <tr>
 * <td>{@link NotRun}</td>
 * <td>release, even if the policy remembers failures</td>
 * </tr>
 * <tr>
 * <td>{@link Indeterminate}</td>
 * <td>nothing: the claim is not renewed any more, and the key stays claimed until the
 * lease expires</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * @hidden
 */
@Internal
public sealed interface CallOutcome {

	/** A success whose result is not stored, for a usual reason: nothing is logged. */
	CallOutcome DONE_UNKEPT = new SuccessWithoutResult(null);

	/** The work may still have effects, and its end is not visible. */
	CallOutcome OUT_OF_SIGHT = new Indeterminate();

	/**
	 * Returns the outcome that an adapter creates for a success. From now on no failure
	 * may delete the record: if the adapter fails, the call is completed without a stored
	 * result.
	 */
	static CallOutcome ofSuccess(Supplier<CallOutcome> door) {
		try {
			return door.get();
		}
		catch (Throwable ex) {
			return new SuccessWithoutResult(ex);
		}
	}

	/**
	 * Returns the outcome that an adapter creates for a failure. If the adapter fails
	 * too, the first failure is used, and the claim still ends.
	 * @param failure the failure of the work
	 */
	static CallOutcome ofFailure(Throwable failure, Function<Throwable, CallOutcome> door) {
		try {
			return door.apply(failure);
		}
		catch (Throwable ex) {
			if (ex != failure) {
				failure.addSuppressed(ex);
			}
			return new Failed(failure, null);
		}
	}

	/**
	 * The work is done.
	 *
	 * @hidden
	 */
	sealed interface Successful extends CallOutcome {

		/** Returns the kind of the result. */
		ResultKind kind();

		/**
		 * Returns the longest time for which the record is stored, unless the call itself
		 * set a retention; {@code null} for the retention of the operation.
		 */
		@Nullable Duration keptAtMost();

	}

	/**
	 * The call returned, and duplicates receive its result.
	 *
	 * @param result creates the stored form. The engine calls it only if the result is
	 * stored. If it throws, the outcome is {@link SuccessWithoutResult}
	 * @param keptAtMost the longest time for which the result is stored, unless the call
	 * itself set a retention; {@code null} for the retention of the operation
	 * @hidden
	 */
	record Done(Encoding result, ResultKind kind, @Nullable Duration keptAtMost) implements Successful {

		/**
		 * Validates the components.
		 */
		public Done {
			Objects.requireNonNull(result, "result");
			Objects.requireNonNull(kind, "kind");
		}

		/**
		 * Creates the outcome of a successful call.
		 * @param result creates the stored form
		 */
		public Done(Encoding result) {
			this(result, ResultKind.SUCCESS, null);
		}

	}

	/**
	 * The call succeeded, and its result is not stored.
	 *
	 * @param why the reason why the result is not stored, for the log; {@code null} for a
	 * usual reason
	 * @param keptAtMost the longest time for which the record is stored, unless the call
	 * itself set a retention; {@code null} for the retention of the operation
	 * @hidden
	 */
	record SuccessWithoutResult(@Nullable Throwable why, ResultKind kind,
			@Nullable Duration keptAtMost) implements Successful {

		/**
		 * Validates the components.
		 */
		public SuccessWithoutResult {
			Objects.requireNonNull(kind, "kind");
		}

		/**
		 * Creates the outcome of a successful call.
		 * @param why the reason why the result is not stored, {@code null} for a usual
		 * reason
		 */
		public SuccessWithoutResult(@Nullable Throwable why) {
			this(why, ResultKind.SUCCESS, null);
		}

	}

	/**
	 * The call ran and failed cleanly.
	 *
	 * @param cause the exception that the caller receives; the failure of a release is
	 * added to it as suppressed
	 * @param remembered the failure in a form that can be replayed, {@code null} if it
	 * cannot be replayed
	 * @hidden
	 */
	record Failed(@Nullable Throwable cause, @Nullable Encoding remembered) implements CallOutcome {
	}

	/**
	 * The work did not run.
	 *
	 * @param cause the exception that prevented the run; the failure of a release is
	 * added to it as suppressed
	 * @hidden
	 */
	record NotRun(@Nullable Throwable cause) implements CallOutcome {
	}

	/**
	 * The caller received a response or an exception, and the work may still have
	 * effects.
	 *
	 * @hidden
	 */
	record Indeterminate() implements CallOutcome {
	}

	/**
	 * The work, or the writing of its response, is still in progress. The adapter is
	 * notified of its end.
	 *
	 * @param ending completes with any other outcome; the thread that completes it ends
	 * the claim before the completion returns
	 * @hidden
	 */
	record Deferred(CompletionStage<CallOutcome> ending) implements CallOutcome {
	}

	/**
	 * Creates the stored form of a result.
	 *
	 * @hidden
	 */
	@FunctionalInterface
	interface Encoding {

		/**
		 * Encodes the result.
		 * @return its stored form
		 */
		StoredResult encode();

	}

}
