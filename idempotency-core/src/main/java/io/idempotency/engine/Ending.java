package io.idempotency.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

import io.idempotency.Internal;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * How a guarded call has ended, as its door saw it. What becomes of the claim is decided
 * by the engine alone, which narrows the ending by mode and policy.
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
 * <td>complete; in mode {@code LOCK}, or if the application asked for it: the record is
 * gone; in mode {@code REJECT}: nothing, the claim is final</td>
 * </tr>
 * <tr>
 * <td>{@link DoneUnkept}</td>
 * <td>as done, with a tombstone for the result; never a release</td>
 * </tr>
 * <tr>
 * <td>{@link Failed}</td>
 * <td>release, or complete with the remembered failure</td>
 * </tr>
 * <tr>
 * <td>{@link NotRun}</td>
 * <td>release, whatever the policy says of failures</td>
 * </tr>
 * <tr>
 * <td>{@link OutOfSight}</td>
 * <td>nothing: the claim is renewed no more and left to its lease</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public sealed interface Ending {

	/** Nothing more is to be said of the end. */
	Ending UNKEPT = new DoneUnkept(null);

	/** The work may still act where nobody sees it. */
	Ending OUT_OF_SIGHT = new OutOfSight();

	/**
	 * The call has returned, and this is what duplicates get.
	 *
	 * @param result makes the stored form; asked only where a result is kept, and what it
	 * throws makes the ending {@link DoneUnkept}
	 * @param kind what the call has come to
	 * @param keptAtMost how long it is kept at most, unless the call itself has said how
	 * long; {@code null} for the retention
	 * @hidden
	 */
	record Done(Encoding result, ResultKind kind, @Nullable Duration keptAtMost) implements Ending {

		/**
		 * Validates the components.
		 */
		public Done {
			Objects.requireNonNull(result, "result");
			Objects.requireNonNull(kind, "kind");
		}

		/**
		 * A success.
		 * @param result makes the stored form
		 */
		public Done(Encoding result) {
			this(result, ResultKind.SUCCESS, null);
		}

	}

	/**
	 * The call is done, and its result cannot be kept.
	 *
	 * @param why what kept it from being kept, for the log; {@code null} where that is
	 * usual
	 * @param kind what the call has come to
	 * @param keptAtMost how long the tombstone is kept at most, unless the call itself
	 * has said how long; {@code null} for the retention
	 * @hidden
	 */
	record DoneUnkept(@Nullable Throwable why, ResultKind kind, @Nullable Duration keptAtMost) implements Ending {

		/**
		 * Validates the components.
		 */
		public DoneUnkept {
			Objects.requireNonNull(kind, "kind");
		}

		/**
		 * A success.
		 * @param why what kept it from being kept, {@code null} where that is usual
		 */
		public DoneUnkept(@Nullable Throwable why) {
			this(why, ResultKind.SUCCESS, null);
		}

	}

	/**
	 * The call ran and has failed cleanly.
	 *
	 * @param cause what the caller gets; a release that fails is added to it as
	 * suppressed
	 * @param remembered the failure in a form that can be replayed, {@code null} if it
	 * has none
	 * @hidden
	 */
	record Failed(@Nullable Throwable cause, @Nullable Encoding remembered) implements Ending {
	}

	/**
	 * Nothing has run.
	 *
	 * @param cause what kept it from running; a release that fails is added to it as
	 * suppressed
	 * @hidden
	 */
	record NotRun(@Nullable Throwable cause) implements Ending {
	}

	/**
	 * The caller was answered, and the work may still act.
	 *
	 * @hidden
	 */
	record OutOfSight() implements Ending {
	}

	/**
	 * The door will know when the work, or its answer, has ended.
	 *
	 * @param ending completes with any other ending; completing it ends the claim before
	 * it returns
	 * @hidden
	 */
	record Later(CompletionStage<Ending> ending) implements Ending {
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
