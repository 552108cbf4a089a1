package io.idempotency;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The options of a guarded operation. {@link Idempotent}, {@link IdempotencyTemplate} and
 * the filters of functional routes all create these options, and the engine reads them.
 * Each option is resolved: an option that the operation does not set has the value of its
 * {@code idempotency.*} property.
 *
 * @param operation the name of the operation, a part of each key
 * @param mode the response to duplicates
 * @param retention how long the result is stored, positive
 * @param lease how long a claim is valid without renewal, positive
 * @param renewal whether the claim is renewed while the call runs
 * @param conflict the response to a duplicate while the first call runs
 * @param waitTimeout the longest wait of {@link ConflictMode#WAIT}, positive
 * @param onFailure the behavior for the key when the call fails
 * @param onAbandoned the behavior of a later call when the process of the first call
 * crashed
 * @param recoverable whether the result can be looked up in the business data; an
 * abandoned claim is then taken over in every {@link AbandonedMode}
 * @param keepResult whether the result is stored
 * @param duplicateOn the exceptions that mean "already done"
 * @param duplicateConstraint the unique constraints that such an exception has to report,
 * empty if every one counts
 * @param onStoreFailure the behavior of a call when the store is unavailable
 * @since 0.1.0
 */
public record IdempotencyOptions(String operation, IdempotencyMode mode, Duration retention, Duration lease,
		boolean renewal, ConflictMode conflict, Duration waitTimeout, FailureMode onFailure, AbandonedMode onAbandoned,
		boolean recoverable, boolean keepResult, List<Class<? extends Throwable>> duplicateOn,
		List<String> duplicateConstraint, StoreFailureMode onStoreFailure) {

	/** The options of an application that sets no {@code idempotency.*} property. */
	public static final IdempotencyOptions DEFAULTS = new IdempotencyOptions("default", IdempotencyMode.REPLAY,
			Duration.ofHours(24), Duration.ofSeconds(30), true, ConflictMode.REJECT, Duration.ofSeconds(5),
			FailureMode.RELEASE, AbandonedMode.RERUN, false, true, List.of(), List.of(), StoreFailureMode.REJECT);

	/** Limits the search for the root cause. */
	private static final int MAX_CAUSES = 32;

	/**
	 * Validates the options.
	 * @throws IllegalArgumentException if a value is invalid; the message names the
	 * option
	 */
	public IdempotencyOptions {
		if (operation.isEmpty()) {
			throw new IllegalArgumentException("operation must not be empty");
		}
		requirePositive("retention", retention);
		requirePositive("lease", lease);
		requirePositive("waitTimeout", waitTimeout);
		if (conflict == ConflictMode.DEFAULT || onFailure == FailureMode.DEFAULT) {
			throw new IllegalArgumentException("conflict and onFailure must not be DEFAULT");
		}
		duplicateOn = List.copyOf(duplicateOn);
		duplicateConstraint = List.copyOf(duplicateConstraint);
	}

	private static void requirePositive(String name, Duration duration) {
		if (duration.isZero() || duration.isNegative()) {
			throw new IllegalArgumentException(name + " must be positive, not " + duration);
		}
	}

	/**
	 * Returns a builder that starts with these options as defaults.
	 * @return the builder
	 */
	public Builder change() {
		return new Builder(this);
	}

	/**
	 * Returns whether duplicates receive the first result.
	 * @return whether the mode replays results and results are stored
	 */
	public boolean replays() {
		return this.mode == IdempotencyMode.REPLAY && this.keepResult;
	}

	/**
	 * Returns whether an exception of the work means "already done".
	 * @param failure the exception
	 * @return whether {@link #duplicateOn()} contains its type or a supertype; if
	 * {@link #duplicateConstraint()} is not empty, the message of its root cause must
	 * also contain one of these names, not as the name of a column
	 */
	public boolean isDuplicate(Throwable failure) {
		return this.duplicateOn.stream().anyMatch((type) -> type.isInstance(failure))
				&& (this.duplicateConstraint.isEmpty() || reportsConstraint(failure));
	}

	private boolean reportsConstraint(Throwable failure) {
		Throwable root = failure;
		for (int i = 0; i < MAX_CAUSES && root.getCause() != null; i++) {
			root = root.getCause();
		}
		String message = String.valueOf(root.getMessage());
		return this.duplicateConstraint.stream()
			.map((name) -> Pattern.compile("(?i)(?<!column ['\"`]?)\\b" + Pattern.quote(name) + "\\b"))
			.anyMatch((name) -> name.matcher(message).find());
	}

	/**
	 * Sets the options of one operation. Each method corresponds to the attribute of
	 * {@link Idempotent} with the same name.
	 *
	 * @param <S> the type that the methods return
	 * @since 0.1.0
	 */
	public interface Spec<S extends Spec<S>> {

		/**
		 * Applies options that several operations share.
		 * @param options sets the options
		 * @return this
		 */
		S options(Consumer<? super Builder> options);

		/**
		 * Sets the response to duplicates. Default: {@link IdempotencyMode#REPLAY}.
		 * @param mode the mode
		 * @return this
		 */
		default S mode(IdempotencyMode mode) {
			return options((options) -> options.mode = mode);
		}

		/**
		 * Sets how long the result is stored. Default: {@code idempotency.retention}.
		 * @param retention the retention, positive
		 * @return this
		 */
		default S retention(Duration retention) {
			return options((options) -> options.retention = retention);
		}

		/**
		 * Sets how long a claim is valid without renewal. Default:
		 * {@code idempotency.lease}.
		 * @param lease the lease, positive
		 * @return this
		 */
		default S lease(Duration lease) {
			return options((options) -> options.lease = lease);
		}

		/**
		 * Sets the response to a duplicate while the first call runs. Default:
		 * {@code idempotency.conflict}.
		 * @param conflict the mode
		 * @return this
		 */
		default S conflict(ConflictMode conflict) {
			return options((options) -> options.conflict = conflict);
		}

		/**
		 * Sets the longest wait of {@link ConflictMode#WAIT}. Default:
		 * {@code idempotency.wait-timeout}.
		 * @param waitTimeout the longest wait, positive
		 * @return this
		 */
		default S waitTimeout(Duration waitTimeout) {
			return options((options) -> options.waitTimeout = waitTimeout);
		}

		/**
		 * Sets the behavior for the key when the call fails. Default:
		 * {@code idempotency.on-failure}.
		 * @param onFailure the mode
		 * @return this
		 */
		default S onFailure(FailureMode onFailure) {
			return options((options) -> options.onFailure = onFailure);
		}

		/**
		 * Sets the behavior of a later call when the process of the first call crashed.
		 * Default: {@link AbandonedMode#RERUN}.
		 * @param onAbandoned the mode
		 * @return this
		 */
		default S onAbandoned(AbandonedMode onAbandoned) {
			return options((options) -> options.onAbandoned = onAbandoned);
		}

		/**
		 * Sets whether the result is stored. Default: {@code true}. If the result is not
		 * stored, a duplicate receives the result that a recovery finds, or is rejected
		 * ({@link IdempotencyResultUnavailableException}); it never runs.
		 * @param keepResult whether the result is stored
		 * @return this
		 */
		default S keepResult(boolean keepResult) {
			return options((options) -> options.keepResult = keepResult);
		}

		/**
		 * Adds an exception of the work that means "already done", such as the exception
		 * of a unique index.
		 * @param failure the type of the exception
		 * @return this
		 */
		default S duplicateOn(Class<? extends Throwable> failure) {
			return options((options) -> options.duplicateOn.add(failure));
		}

		/**
		 * Adds a unique constraint. A {@link #duplicateOn} exception then counts only if
		 * it reports one of the added constraints.
		 * @param name the name of the constraint
		 * @return this
		 */
		default S duplicateConstraint(String name) {
			return options((options) -> options.duplicateConstraint.add(name));
		}

	}

	/**
	 * The attributes of an operation that are not options but may contradict them.
	 *
	 * @param fingerprint whether the operation sets a fingerprint
	 * @param token whether the key is an issued token
	 * @param scope whether the operation sets the scope of the key
	 * @param store whether the operation names a store
	 * @param skips whether a duplicate can return without a result
	 * @hidden
	 */
	@Internal
	public record Attributes(boolean fingerprint, boolean token, boolean scope, boolean store, boolean skips) {

	}

	/**
	 * Collects the options of one operation. An option that is not set has its default
	 * value. Not thread-safe.
	 *
	 * @since 0.1.0
	 */
	public static final class Builder implements Spec<Builder> {

		private final IdempotencyOptions defaults;

		private @Nullable String operation;

		private @Nullable IdempotencyMode mode;

		private @Nullable Duration retention;

		private @Nullable Duration lease;

		private @Nullable Boolean renewal;

		private ConflictMode conflict = ConflictMode.DEFAULT;

		private @Nullable Duration waitTimeout;

		private FailureMode onFailure = FailureMode.DEFAULT;

		private @Nullable AbandonedMode onAbandoned;

		private @Nullable Boolean recoverable;

		private @Nullable Boolean keepResult;

		private final List<Class<? extends Throwable>> duplicateOn = new ArrayList<>();

		private final List<String> duplicateConstraint = new ArrayList<>();

		private @Nullable StoreFailureMode onStoreFailure;

		private Builder(IdempotencyOptions defaults) {
			this.defaults = defaults;
		}

		@Override
		public Builder options(Consumer<? super Builder> options) {
			options.accept(this);
			return this;
		}

		/**
		 * Sets the name of the operation.
		 * @param operation the name, not empty
		 * @return this
		 */
		public Builder operation(String operation) {
			this.operation = operation;
			return this;
		}

		/**
		 * Sets whether the claim is renewed while the call runs.
		 * @param renewal whether the claim is renewed
		 * @return this
		 */
		public Builder renewal(boolean renewal) {
			this.renewal = renewal;
			return this;
		}

		/**
		 * Sets whether the result can be looked up in the business data.
		 * @param recoverable whether the operation has a recovery
		 * @return this
		 */
		public Builder recoverable(boolean recoverable) {
			this.recoverable = recoverable;
			return this;
		}

		/**
		 * Sets the behavior of a call when the store is unavailable.
		 * @param onStoreFailure the mode
		 * @return this
		 */
		public Builder onStoreFailure(StoreFailureMode onStoreFailure) {
			this.onStoreFailure = onStoreFailure;
			return this;
		}

		/**
		 * Builds the options.
		 * @return the options
		 * @throws IllegalArgumentException if a value is invalid; the message names the
		 * option
		 */
		public IdempotencyOptions build() {
			IdempotencyOptions or = this.defaults;
			return new IdempotencyOptions(either(this.operation, or.operation), either(this.mode, or.mode),
					either(this.retention, or.retention), either(this.lease, or.lease),
					either(this.renewal, or.renewal),
					(this.conflict != ConflictMode.DEFAULT) ? this.conflict : or.conflict,
					either(this.waitTimeout, or.waitTimeout),
					(this.onFailure != FailureMode.DEFAULT) ? this.onFailure : or.onFailure,
					either(this.onAbandoned, or.onAbandoned), either(this.recoverable, or.recoverable),
					either(this.keepResult, or.keepResult),
					this.duplicateOn.isEmpty() ? or.duplicateOn : this.duplicateOn,
					this.duplicateConstraint.isEmpty() ? or.duplicateConstraint : this.duplicateConstraint,
					either(this.onStoreFailure, or.onStoreFailure));
		}

		private static <T> T either(@Nullable T value, T other) {
			return (value != null) ? value : other;
		}

		/**
		 * Builds the options of one operation, and rejects options that contradict each
		 * other, because one of them would have no effect. Defaults contradict nothing.
		 * @param attributes the other attributes of the operation
		 * @param error creates the exception from the problem, which follows a colon, and
		 * from the action that fixes it
		 * @return the options
		 * @hidden
		 */
		@Internal
		public IdempotencyOptions build(Attributes attributes,
				BiFunction<String, String, ? extends RuntimeException> error) {
			IdempotencyOptions options;
			try {
				options = build();
			}
			catch (IllegalArgumentException ex) {
				throw error.apply(String.valueOf(ex.getMessage()), "Set a valid value");
			}
			IdempotencyMode used = options.mode;
			reject(attributes.fingerprint && used != IdempotencyMode.REPLAY,
					"it has a fingerprint, but mode = " + used + " compares nothing", "Remove fingerprint", error);
			reject(this.conflict == ConflictMode.WAIT && used == IdempotencyMode.REJECT,
					"conflict = WAIT contradicts mode = REJECT, which rejects duplicates immediately",
					"Remove conflict", error);
			reject(this.waitTimeout != null && this.conflict != ConflictMode.WAIT
					&& this.conflict != ConflictMode.DEFAULT,
					"it has a waitTimeout, but conflict = " + this.conflict + " never waits", "Remove one of the two",
					error);
			reject(this.conflict == ConflictMode.SKIP && !attributes.skips,
					"conflict = SKIP needs a method that returns void or Mono<Void> and is neither a handler nor a "
							+ "listener",
					"Set REJECT or WAIT", error);
			reject(this.onFailure == FailureMode.REMEMBER && used == IdempotencyMode.LOCK,
					"onFailure = REMEMBER contradicts mode = LOCK, which stores nothing", "Remove onFailure", error);
			reject(!options.keepResult && used != IdempotencyMode.REPLAY,
					"it has keepResult = false, but mode = " + used + " never stores a result", "Remove keepResult",
					error);
			reject(!options.keepResult && this.onFailure == FailureMode.REMEMBER,
					"keepResult = false contradicts onFailure = REMEMBER, which stores the failure",
					"Remove one of the two", error);
			reject(options.recoverable && used == IdempotencyMode.REJECT && this.duplicateOn.isEmpty(),
					"recover is never called: mode = REJECT returns no result to duplicates",
					"Remove recover or set duplicateOn", error);
			reject(options.duplicateOn.isEmpty() && !options.duplicateConstraint.isEmpty(),
					"duplicateConstraint has no effect without duplicateOn", "Set duplicateOn", error);
			reject(attributes.token && attributes.scope,
					"token contradicts scope: a token belongs to the caller that it was issued to", "Remove scope",
					error);
			reject(attributes.token && attributes.store,
					"token contradicts store: tokens are issued into the default store", "Remove store", error);
			return options;
		}

		private static void reject(boolean contradiction, String problem, String action,
				BiFunction<String, String, ? extends RuntimeException> error) {
			if (contradiction) {
				throw error.apply(problem, action);
			}
		}

	}

}
