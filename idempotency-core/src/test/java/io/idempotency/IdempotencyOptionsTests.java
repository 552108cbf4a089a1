package io.idempotency;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.idempotency.IdempotencyOptions.Attributes;
import io.idempotency.IdempotencyOptions.Builder;
import io.idempotency.engine.TestPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class IdempotencyOptionsTests {

	private static final Attributes NONE = new Attributes(false, false, false, false, false);

	private static final Attributes FINGERPRINT = new Attributes(true, false, false, false, false);

	@Test
	void defaultsAreThoseOfTheProperties() {
		IdempotencyOptions defaults = IdempotencyOptions.DEFAULTS;
		assertThat(defaults.mode()).isEqualTo(IdempotencyMode.REPLAY);
		assertThat(defaults.retention()).isEqualTo(Duration.ofHours(24));
		assertThat(defaults.lease()).isEqualTo(Duration.ofSeconds(30));
		assertThat(defaults.renewal()).isTrue();
		assertThat(defaults.conflict()).isEqualTo(ConflictMode.REJECT);
		assertThat(defaults.waitTimeout()).isEqualTo(Duration.ofSeconds(5));
		assertThat(defaults.onFailure()).isEqualTo(FailureMode.RELEASE);
		assertThat(defaults.onAbandoned()).isEqualTo(AbandonedMode.RERUN);
		assertThat(defaults.onStoreFailure()).isEqualTo(StoreFailureMode.REJECT);
	}

	@Test
	void builderTakesEachSettingAndGoesOn() {
		IdempotencyOptions options = IdempotencyOptions.DEFAULTS.change()
			.operation("orders.pay")
			.mode(IdempotencyMode.REJECT)
			.retention(Duration.ofDays(7))
			.lease(Duration.ofSeconds(9))
			.renewal(false)
			.conflict(ConflictMode.WAIT)
			.waitTimeout(Duration.ofSeconds(1))
			.onFailure(FailureMode.REMEMBER)
			.onAbandoned(AbandonedMode.REJECT)
			.recoverable(true)
			.keepResult(false)
			.duplicateOn(IllegalStateException.class)
			.duplicateOn(ArithmeticException.class)
			.onStoreFailure(StoreFailureMode.PROCEED)
			.operation("orders.refund")
			.build();
		assertThat(options.operation()).isEqualTo("orders.refund");
		assertThat(options.mode()).isEqualTo(IdempotencyMode.REJECT);
		assertThat(options.retention()).isEqualTo(Duration.ofDays(7));
		assertThat(options.lease()).isEqualTo(Duration.ofSeconds(9));
		assertThat(options.renewal()).isFalse();
		assertThat(options.conflict()).isEqualTo(ConflictMode.WAIT);
		assertThat(options.waitTimeout()).isEqualTo(Duration.ofSeconds(1));
		assertThat(options.onFailure()).isEqualTo(FailureMode.REMEMBER);
		assertThat(options.onAbandoned()).isEqualTo(AbandonedMode.REJECT);
		assertThat(options.recoverable()).isTrue();
		assertThat(options.keepResult()).isFalse();
		assertThat(options.duplicateOn()).containsExactly(IllegalStateException.class, ArithmeticException.class);
		assertThat(options.onStoreFailure()).isEqualTo(StoreFailureMode.PROCEED);
	}

	@Test
	void durationsMustBePositive() {
		for (Duration wrong : new Duration[] { Duration.ZERO, Duration.ofSeconds(-1) }) {
			assertThatIllegalArgumentException().isThrownBy(() -> TestPolicy.replay().lease(wrong).build())
				.withMessageStartingWith("lease must be positive");
			assertThatIllegalArgumentException().isThrownBy(() -> TestPolicy.replay().retention(wrong).build())
				.withMessageStartingWith("retention must be positive");
			assertThatIllegalArgumentException().isThrownBy(() -> TestPolicy.replay().waiting(wrong).build())
				.withMessageStartingWith("waitTimeout must be positive");
		}
	}

	@Test
	void operationMustHaveAName() {
		assertThatIllegalArgumentException().isThrownBy(() -> TestPolicy.replay().operation("").build());
	}

	@Test
	void defaultLeavesWhatWasChosenBefore() {
		IdempotencyOptions chosen = IdempotencyOptions.DEFAULTS.change()
			.conflict(ConflictMode.REJECT)
			.onFailure(FailureMode.REMEMBER)
			.build();
		IdempotencyOptions changed = chosen.change()
			.conflict(ConflictMode.DEFAULT)
			.onFailure(FailureMode.DEFAULT)
			.build();
		assertThat(changed.conflict()).isEqualTo(ConflictMode.REJECT);
		assertThat(changed.onFailure()).isEqualTo(FailureMode.REMEMBER);
	}

	@Test
	void optionsThatAreNotSetKeepTheirDefaults() {
		IdempotencyOptions defaults = IdempotencyOptions.DEFAULTS.change()
			.options((options) -> options.mode(IdempotencyMode.LOCK).lease(Duration.ofSeconds(9)).keepResult(false))
			.duplicateOn(IllegalStateException.class)
			.recoverable(true)
			.build();
		assertThat(defaults.change().build()).isEqualTo(defaults);
	}

	@Test
	void matchesSubtypesOfDuplicateOn() {
		IdempotencyOptions options = IdempotencyOptions.DEFAULTS.change().duplicateOn(RuntimeException.class).build();
		assertThat(options.isDuplicate(new IllegalStateException())).isTrue();
		assertThat(options.isDuplicate(new Exception())).isFalse();
		assertThat(IdempotencyOptions.DEFAULTS.isDuplicate(new IllegalStateException())).isFalse();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '#', textBlock = """
			true  | ERROR: duplicate key value violates unique constraint "uk_order"
			true  | Duplicate entry '7' for key 'orders.uk_order'
			true  | Duplicate entry '7' for key 'UK_ORDER'
			true  | Unique index or primary key violation: "PUBLIC.UK_ORDER ON PUBLIC.ORDERS(NUMBER) VALUES ( 7 )"
			true  | ORA-00001: unique constraint (SHOP.UK_ORDER) violated
			false | ERROR: duplicate key value violates unique constraint "uk_order_number"
			false | ERROR: null value in column "uk_order" of relation "orders" violates not-null constraint
			false | Column 'uk_order' cannot be null
			false | Data truncation: Data too long for column 'uk_order' at row 1
			false | Numeric value out of range
			""")
	void matchesOnlyTheNamedConstraints(boolean duplicate, String message) {
		IdempotencyOptions options = IdempotencyOptions.DEFAULTS.change()
			.duplicateOn(RuntimeException.class)
			.duplicateConstraint("uk_order")
			.build();
		RuntimeException failure = new RuntimeException("insert into orders (uk_order)", new Exception(message));
		assertThat(options.isDuplicate(failure)).isEqualTo(duplicate);
		assertThat(options.isDuplicate(new IllegalStateException())).isFalse();
	}

	@Test
	void rejectsConstraintWithoutException() {
		assertThat(rejecting(NONE, (options) -> options.duplicateConstraint("uk_order")))
			.containsExactly(IdempotencyMode.values());
	}

	@Test
	void rejectsFingerprintInModesThatCompareNothing() {
		assertThat(rejecting(FINGERPRINT, (options) -> {
		})).containsExactly(IdempotencyMode.REJECT, IdempotencyMode.LOCK);
		assertThat(rejecting(NONE, (options) -> {
		})).isEmpty();
	}

	@Test
	void rejectsWaitingThatNeverHappens() {
		Duration timeout = Duration.ofSeconds(1);
		assertThat(rejecting(NONE, (options) -> options.conflict(ConflictMode.WAIT).waitTimeout(timeout)))
			.containsExactly(IdempotencyMode.REJECT);
		assertThat(rejecting(NONE, (options) -> options.conflict(ConflictMode.REJECT).waitTimeout(timeout)))
			.containsExactly(IdempotencyMode.values());
		assertThat(rejecting(NONE, (options) -> options.conflict(ConflictMode.REJECT))).isEmpty();
		assertThat(rejecting(NONE, (options) -> options.waitTimeout(timeout))).isEmpty();
	}

	@Test
	void rejectsSkippingWhereACallerNeedsAResult() {
		assertThat(rejecting(NONE, (options) -> options.conflict(ConflictMode.SKIP)))
			.containsExactly(IdempotencyMode.values());
		assertThat(rejecting(new Attributes(false, false, false, false, true),
				(options) -> options.conflict(ConflictMode.SKIP)))
			.isEmpty();
	}

	@Test
	void rejectsResultsAndFailuresThatAreNeverStored() {
		assertThat(rejecting(NONE, (options) -> options.onFailure(FailureMode.REMEMBER)))
			.containsExactly(IdempotencyMode.LOCK);
		assertThat(rejecting(NONE, (options) -> options.onFailure(FailureMode.RELEASE).keepResult(false)))
			.containsExactly(IdempotencyMode.REJECT, IdempotencyMode.LOCK);
		assertThat(rejecting(NONE, (options) -> options.onFailure(FailureMode.REMEMBER).keepResult(false)))
			.containsExactly(IdempotencyMode.values());
		assertThat(rejecting(NONE, (options) -> options.onFailure(FailureMode.DEFAULT))).isEmpty();
	}

	@Test
	void rejectsRecoveryThatIsNeverCalled() {
		assertThat(rejecting(NONE, (options) -> options.recoverable(true))).containsExactly(IdempotencyMode.REJECT);
		assertThat(rejecting(NONE, (options) -> options.recoverable(true).duplicateOn(IllegalStateException.class)))
			.isEmpty();
	}

	@Test
	void rejectsScopeAndStoreOfATokensKey() {
		assertThat(rejecting(new Attributes(false, true, true, false, false), (options) -> {
		})).containsExactly(IdempotencyMode.values());
		assertThat(rejecting(new Attributes(false, true, false, true, false), (options) -> {
		})).containsExactly(IdempotencyMode.values());
		assertThat(rejecting(new Attributes(false, true, false, false, false), (options) -> {
		})).isEmpty();
		assertThat(rejecting(new Attributes(false, false, true, true, false), (options) -> {
		})).isEmpty();
	}

	@Test
	void defaultsOfTheApplicationContradictNothing() {
		Builder options = IdempotencyOptions.DEFAULTS.change()
			.conflict(ConflictMode.WAIT)
			.onFailure(FailureMode.REMEMBER)
			.build()
			.change();
		assertThat(resolve(options.mode(IdempotencyMode.REJECT), NONE).conflict()).isEqualTo(ConflictMode.WAIT);
		assertThat(resolve(options.mode(IdempotencyMode.LOCK), NONE).onFailure()).isEqualTo(FailureMode.REMEMBER);
		assertThat(resolve(options.mode(IdempotencyMode.REPLAY).keepResult(false), NONE).replays()).isFalse();
	}

	@Test
	void errorNamesTheProblemAndTheAction() {
		Builder options = IdempotencyOptions.DEFAULTS.change().mode(IdempotencyMode.LOCK);
		assertThatIllegalStateException().isThrownBy(() -> resolve(options, FINGERPRINT))
			.withMessage("it has a fingerprint, but mode = LOCK compares nothing. Remove fingerprint");
		assertThatIllegalStateException().isThrownBy(() -> resolve(options.lease(Duration.ZERO), NONE))
			.withMessage("lease must be positive, not PT0S. Set a valid value");
	}

	private static List<IdempotencyMode> rejecting(Attributes attributes, Consumer<Builder> set) {
		List<IdempotencyMode> modes = new ArrayList<>();
		for (IdempotencyMode mode : IdempotencyMode.values()) {
			try {
				Builder options = IdempotencyOptions.DEFAULTS.change().mode(mode);
				assertThat(resolve(options.options(set), attributes)).isNotNull();
			}
			catch (IllegalStateException rejected) {
				modes.add(mode);
			}
		}
		return modes;
	}

	private static IdempotencyOptions resolve(Builder options, Attributes attributes) {
		return options.build(attributes, (problem, action) -> new IllegalStateException(problem + ". " + action));
	}

}
