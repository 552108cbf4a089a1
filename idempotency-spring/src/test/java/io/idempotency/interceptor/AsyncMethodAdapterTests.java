package io.idempotency.interceptor;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.RememberedFailureException;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.micrometer.context.ContextRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Methods that return before their work is done. */
class AsyncMethodAdapterTests {

	private static AnnotationConfigApplicationContext context;

	private final Service service = context.getBean(Service.class);

	private final TestStore store = context.getBean(TestStore.class);

	@BeforeAll
	static void start() {
		context = MethodAdapterSetup.start(Service.class);
		ContextRegistry.getInstance().registerThreadLocalAccessor("tenant", Service.TENANT);
	}

	@AfterAll
	static void stop() {
		ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
		context.close();
	}

	@BeforeEach
	void reset() {
		this.store.reset();
		Service.runs.set(0);
		Service.work = new CompletableFuture<>();
	}

	@Test
	void theRecordIsCompleteBeforeTheCallerSeesTheResult() throws Exception {
		CompletableFuture<String> first = this.service.run("7");
		CompletableFuture<Integer> recordsSeen = first.thenApply((result) -> this.store.completions());
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> this.service.run("7"));
		Service.work.complete("done");
		assertThat(recordsSeen.get()).isEqualTo(1);
		assertThat(this.service.run("7").get()).isEqualTo("done");
		assertThat(this.service.stage("7").toCompletableFuture().get()).isEqualTo("done");
		assertThat(Service.runs).hasValue(2);
	}

	@Test
	void nullAndVoidAreResults() throws Exception {
		Service.work.complete(null);
		assertThat(this.service.run("7").get()).isNull();
		assertThat(this.service.run("7").get()).isNull();
		assertThat(this.service.nothing("7").get()).isNull();
		assertThat(this.service.nothing("7").get()).isNull();
		assertThat(Service.runs).hasValue(2);
	}

	@Test
	void aFailureReleasesTheKeyAndComesOutAsItIs() {
		IllegalStateException failure = new IllegalStateException("late");
		Service.work.completeExceptionally(failure);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(this.service.run("7")::get)
			.havingCause()
			.isSameAs(failure);
		assertThat(this.store.size()).isZero();
	}

	@Test
	void aFailureBeforeTheFutureReleasesTheKey() {
		Service.work = null;
		assertThatExceptionOfType(NullPointerException.class).isThrownBy(() -> this.service.run("7"));
		assertThat(this.store.size()).isZero();
	}

	@Test
	void aRememberedFailureIsReplayedInsideTheFuture() {
		Service.work.completeExceptionally(new IllegalStateException("late"));
		assertThat(this.service.remembering("7")).isCompletedExceptionally();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(this.service.remembering("7")::get)
			.havingCause()
			.isInstanceOf(RememberedFailureException.class)
			.withMessage("late");
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void aCancelledFutureSaysNothingAboutItsWorkSoTheClaimStays() {
		CompletableFuture<String> first = this.service.run("7");
		Service.work.cancel(true);
		await().atMost(Duration.ofSeconds(60)).until(first::isCompletedExceptionally);
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> this.service.run("7"));
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void aCallerThatCancelsDoesNotEndTheClaim() throws Exception {
		this.service.run("7").cancel(true);
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> this.service.run("7"));
		Service.work.complete("done");
		await().atMost(Duration.ofSeconds(60))
			.ignoreExceptions()
			.until(() -> "done".equals(this.service.run("7").get()));
	}

	@Test
	void aLateDuplicateIsRecoveredByAFuture() throws Exception {
		Service.work.completeExceptionally(new AlreadyDoneException());
		assertThat(this.service.recoverByFuture("7").get()).isEqualTo("found");
		assertThat(this.service.recoverByFuture("7").get()).isEqualTo("found");
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void aDeadOwnersResultIsRecoveredByAValue() throws Exception {
		this.store.abandoned(IdempotencyKey.of("recoverByValue", Caller.GLOBAL, "7"));
		assertThat(this.service.recoverByValue("7").get()).isEqualTo("found");
		assertThat(Service.runs).hasValue(0);
	}

	@Test
	void failsWhenRecoverDoesNotFindTheResult() {
		Service.work.completeExceptionally(new AlreadyDoneException());
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(this.service.recoverNothing("7")::get)
				.withCauseInstanceOf(AlreadyDoneException.class);
		}
		assertThat(Service.runs).hasValue(2);
	}

	@Test
	void aMethodWithoutAValueIsRecoveredByAnyValueThatTheCallerDoesNotSee() throws Exception {
		Service.work.completeExceptionally(new AlreadyDoneException());
		CompletableFuture<Void> recovered = this.service.recoverVoid("7");
		assertThat((Object) recovered.get()).isNull();
		this.store.tombstone(IdempotencyKey.of("recoverVoid", Caller.GLOBAL, "8"));
		assertThat((Object) this.service.recoverVoid("8").get()).isNull();
		assertThat(Service.runs).hasValue(1);
	}

	@Test
	void aLookUpOnAThreadOfTheLibrarySeesWhatItsCallersThreadHasBound() throws Exception {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("alice", "secret"));
		Service.TENANT.set("acme");
		CompletableFuture<String> recovered;
		try {
			recovered = this.service.recoverForCaller("7");
		}
		finally {
			SecurityContextHolder.clearContext();
			Service.TENANT.remove();
		}
		Service.work.completeExceptionally(new AlreadyDoneException());
		assertThat(recovered.get()).isEqualTo("alice of acme");
		// The thread goes on to other callers.
		Service.work = new CompletableFuture<>();
		recovered = this.service.recoverForCaller("8");
		Service.work.completeExceptionally(new AlreadyDoneException());
		assertThat(recovered.get()).isEqualTo("nobody of null");
	}

	@Test
	void aLockIsHeldUntilTheWorkIsDone() throws Exception {
		CompletableFuture<String> first = this.service.lock("7");
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> this.service.lock("7"));
		Service.work.complete("done");
		assertThat(first.get()).isEqualTo("done");
		assertThat(this.store.size()).isZero();
	}

	static class AlreadyDoneException extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	static class Service {

		static final ThreadLocal<String> TENANT = new ThreadLocal<>();

		static final AtomicInteger runs = new AtomicInteger();

		static @Nullable CompletableFuture<String> work;

		private CompletableFuture<String> work() {
			runs.incrementAndGet();
			return work.copy();
		}

		@Idempotent("#key")
		public CompletableFuture<String> run(String key) {
			runs.incrementAndGet();
			work.isDone();
			return work;
		}

		@Idempotent("#key")
		public CompletionStage<String> stage(String key) {
			return work();
		}

		@Idempotent("#key")
		public CompletableFuture<Void> nothing(String key) {
			return work().thenRun(() -> {
			});
		}

		@Idempotent(key = "#key", onFailure = FailureMode.REMEMBER)
		public CompletableFuture<String> remembering(String key) {
			return work();
		}

		@Idempotent(key = "#key", duplicateOn = AlreadyDoneException.class, recover = "futureOf")
		public CompletableFuture<String> recoverByFuture(String key) {
			return work();
		}

		private CompletableFuture<String> futureOf(String key) {
			return CompletableFuture.completedFuture("found");
		}

		@Idempotent(key = "#key", operation = "recoverByValue", recover = "valueOf")
		public CompletableFuture<String> recoverByValue(String key) {
			return work();
		}

		private String valueOf(String key) {
			return "found";
		}

		@Idempotent(key = "#key", duplicateOn = AlreadyDoneException.class, recover = "nothingOf")
		public CompletableFuture<String> recoverNothing(String key) {
			return work();
		}

		private CompletableFuture<String> nothingOf(String key) {
			return CompletableFuture.completedFuture(null);
		}

		@Idempotent(key = "#key", operation = "recoverVoid", duplicateOn = AlreadyDoneException.class,
				recover = "wasDone")
		public CompletableFuture<Void> recoverVoid(String key) {
			return work().thenRun(() -> {
			});
		}

		@Idempotent(key = "#key", operation = "recoverForCaller", duplicateOn = AlreadyDoneException.class,
				recover = "callerSeen")
		public CompletableFuture<String> recoverForCaller(String key) {
			return work();
		}

		private String callerSeen(String key) {
			Authentication caller = SecurityContextHolder.getContext().getAuthentication();
			return ((caller != null) ? caller.getName() : "nobody") + " of " + TENANT.get();
		}

		private boolean wasDone(String key) {
			return true;
		}

		@Idempotent(key = "#key", mode = IdempotencyMode.LOCK)
		public CompletableFuture<String> lock(String key) {
			return work();
		}

	}

}
