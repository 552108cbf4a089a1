package io.idempotency.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.RememberedFailureException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What a call of a value promises, by whichever adapter it comes in: the annotation on
 * the method of a bean, or the template.
 */
abstract class ValueCallContract {

	private static final Duration SOON = Duration.ofSeconds(60);

	final AtomicInteger runs = new AtomicInteger();

	/** What the business knows, for recovery. */
	final Map<String, Receipt> ledger = new ConcurrentHashMap<>();

	/** The calls of one adapter. */
	abstract Payments payments();

	private Receipt receipt() {
		return new Receipt("r" + this.runs.incrementAndGet(), List.of("a", "b"));
	}

	private Receipt fail() {
		this.runs.incrementAndGet();
		throw new IllegalStateException("failed");
	}

	private Receipt alreadyThere() {
		this.runs.incrementAndGet();
		throw new AlreadyThereException();
	}

	@Test
	void duplicateGetsTheFirstResultAndNothingRuns() throws Exception {
		Receipt first = payments().pay("7", this::receipt);
		assertThat(payments().pay("7", this::receipt)).isEqualTo(first).isNotSameAs(first);
		assertThat(payments().pay("8", this::receipt)).isNotEqualTo(first);
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void nothingIsAResult() throws Exception {
		assertThat(payments().pay("7", () -> {
			this.runs.incrementAndGet();
			return null;
		})).isNull();
		assertThat(payments().pay("7", this::receipt)).isNull();
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void keyWithAnotherFingerprintIsRejected() throws Exception {
		Receipt first = payments().compared("7", 10, this::receipt);
		assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> payments().compared("7", 11, this::receipt));
		assertThat(payments().compared("7", 10, this::receipt)).isEqualTo(first);
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void failureIsThrownAsItIsAndTheNextCallRuns() throws Exception {
		assertThatIllegalStateException().isThrownBy(() -> payments().pay("7", this::fail)).withMessage("failed");
		assertThat(payments().pay("7", this::receipt)).isNotNull();
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void checkedFailureIsThrownAsItIs() {
		Exception failure = new Exception("checked");
		assertThat(catchThrowable(() -> payments().pay("7", () -> {
			throw failure;
		}))).isSameAs(failure);
	}

	@Test
	void rememberedFailureIsTheResult() {
		assertThatIllegalStateException().isThrownBy(() -> payments().remembered("7", this::fail));
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> payments().remembered("7", this::receipt))
			.withMessageContaining("failed");
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void onceIsOnceWhateverBecameOfTheFirst() throws Exception {
		payments().once("7", this::receipt);
		assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> payments().once("7", this::receipt))
			.satisfies((rejection) -> assertThat(rejection.attempts()).isEqualTo(2));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void lockIsHeldOnlyWhileTheCallRuns() throws Exception {
		payments().locked("7", () -> {
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> payments().locked("7", this::receipt));
			return receipt();
		});
		payments().locked("7", this::receipt);
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void duplicateDuringTheFirstIsInProgress() throws Exception {
		payments().pay("7", () -> {
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> payments().pay("7", this::receipt));
			return receipt();
		});
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void whatTheBusinessAlreadyKnowsIsLookedUpAndKept() throws Exception {
		Receipt known = new Receipt("known", List.of());
		this.ledger.put("7", known);
		assertThat(payments().recovered("7", this::alreadyThere)).isEqualTo(known);
		this.ledger.clear();
		assertThat(payments().recovered("7", this::receipt)).isEqualTo(known);
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void failsWhenRecoverDoesNotFindTheResult() throws Exception {
		assertThatExceptionOfType(AlreadyThereException.class)
			.isThrownBy(() -> payments().recovered("7", this::alreadyThere));
		assertThat(payments().recovered("7", this::receipt)).isNotNull();
		assertThat(this.runs).hasValue(2);
	}

	@Test
	void resultThatIsNotKeptIsUnavailable() throws Exception {
		payments().unkept("7", this::receipt);
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> payments().unkept("7", this::receipt));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void futureIsGuardedUntilItIsComplete() {
		CompletableFuture<Receipt> work = new CompletableFuture<>();
		CompletableFuture<@Nullable Receipt> first = payments().later("7", () -> work);
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> payments().later("7", () -> CompletableFuture.completedFuture(receipt())));
		Receipt receipt = receipt();
		work.complete(receipt);
		assertThat(first).succeedsWithin(SOON).isEqualTo(receipt);
		assertThat(payments().later("7", () -> CompletableFuture.completedFuture(receipt()))).succeedsWithin(SOON)
			.isEqualTo(receipt);
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void callKnowsItsKeyAndCanGiveItBack() throws Exception {
		payments().pay("7", () -> {
			IdempotencyContext context = IdempotencyContext.current().orElseThrow();
			assertThat(context.key()).isEqualTo("7");
			context.releaseKey();
			return receipt();
		});
		payments().pay("7", this::receipt);
		assertThat(this.runs).hasValue(2);
	}

	/** What an adapter must offer. */
	interface Payments {

		@Nullable Receipt pay(String key, Callable<@Nullable Receipt> work) throws Exception;

		@Nullable Receipt compared(String key, int amount, Callable<Receipt> work) throws Exception;

		@Nullable Receipt remembered(String key, Callable<Receipt> work) throws Exception;

		@Nullable Receipt once(String key, Callable<Receipt> work) throws Exception;

		@Nullable Receipt locked(String key, Callable<Receipt> work) throws Exception;

		@Nullable Receipt recovered(String key, Callable<Receipt> work) throws Exception;

		@Nullable Receipt unkept(String key, Callable<Receipt> work) throws Exception;

		CompletableFuture<@Nullable Receipt> later(String key, Supplier<CompletableFuture<Receipt>> work);

	}

	/** A result. */
	record Receipt(String number, List<String> lines) {

	}

	/** The business says that it was done before. */
	static class AlreadyThereException extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

}
