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
 * The end of a guarded call, as its door saw it. The engine alone decides what happens to
 * the claim: it narrows the ending by mode and policy.
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
 * <td>as for {@link Done}, with a tombstone in place of the result</td>
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
 * <td>nothing: the claim is not renewed any more and ends with its lease</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * @hidden
 */
@Internal
public sealed interface CallOutcome {

	/** A success whose result is not kept, for a usual reason: nothing is logged. */
	CallOutcome DONE_UNKEPT = new SuccessWithoutResult(null);

	/** The work may still act, and its end cannot be seen. */
	CallOutcome OUT_OF_SIGHT = new Indeterminate();

	/**
	 * Returns the ending that a door makes of a success. No failure may delete the record
	 * any more: if the door fails, a tombstone is left.
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
	 * Returns the ending that a door makes of a failure. If the door fails too, the first
	 * failure wins, and the claim still ends.
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
		 * Returns the longest time for which the record is kept, unless the call itself
		 * has set a retention; {@code null} for the retention of the operation.
		 */
		@Nullable Duration keptAtMost();

	}

	/**
	 * The call has returned, and duplicates get its result.
	 *
	 * @param result makes the stored form. The engine asks it only if the result is kept.
	 * An exception of it makes the ending {@link SuccessWithoutResult}
	 * @param keptAtMost the longest time for which the result is kept, unless the call
	 * itself has set a retention; {@code null} for the retention of the operation
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
		 * Creates the ending of a successful call.
		 * @param result makes the stored form
		 */
		public Done(Encoding result) {
			this(result, ResultKind.SUCCESS, null);
		}

	}

	/**
	 * The call is done, and its result is not kept.
	 *
	 * @param why the reason why the result is not kept, for the log; {@code null} for a
	 * usual reason
	 * @param keptAtMost the longest time for which the tombstone is kept, unless the call
	 * itself has set a retention; {@code null} for the retention of the operation
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
		 * Creates the ending of a successful call.
		 * @param why the reason why the result is not kept, {@code null} for a usual
		 * reason
		 */
		public SuccessWithoutResult(@Nullable Throwable why) {
			this(why, ResultKind.SUCCESS, null);
		}

	}

	/**
	 * The call ran and has failed cleanly.
	 *
	 * @param cause the exception that the caller gets; the failure of a release is added
	 * to it as suppressed
	 * @param remembered the failure in a form that can be replayed, {@code null} if it
	 * has none
	 * @hidden
	 */
	record Failed(@Nullable Throwable cause, @Nullable Encoding remembered) implements CallOutcome {
	}

	/**
	 * The work has not run.
	 *
	 * @param cause the exception that prevented the run; the failure of a release is
	 * added to it as suppressed
	 * @hidden
	 */
	record NotRun(@Nullable Throwable cause) implements CallOutcome {
	}

	/**
	 * The caller was answered, and the work may still act.
	 *
	 * @hidden
	 */
	record Indeterminate() implements CallOutcome {
	}

	/**
	 * The work, or its answer, still goes on, and the door will know when it has ended.
	 *
	 * @param ending completes with any other ending; the thread that completes it ends
	 * the claim before the completion returns
	 * @hidden
	 */
	record Deferred(CompletionStage<CallOutcome> ending) implements CallOutcome {
	}

	/**
	 * Makes the stored form of a result.
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
