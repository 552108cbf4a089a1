package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.StoreAlone;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What happens behind a commit: the work is done, whatever is thrown there, and there is
 * no transaction any more that a record could join.
 */
@StoreAlone
@EachDatabase(value = {}, and = Database.POSTGRESQL_18)
class AfterCommitTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private final String ref = UUID.randomUUID().toString();

	private final AdvisedApplication.Charges charges;

	private final AdvisedApplication.Services services;

	private final PlatformTransactionManager manager;

	private final JdbcTemplate jdbc;

	private final Client client;

	AfterCommitTests(TestDatabase database) {
		ConfigurableApplicationContext application = database.share("application",
				() -> AdvisedApplication.start(database));
		this.charges = AopTestUtils.getTargetObject(application.getBean(AdvisedApplication.Charges.class));
		this.charges.around = AdvisedApplication.NOTHING;
		this.charges.runs.set(0);
		this.charges.work = (run) -> afterCommit(() -> {
			throw new IllegalStateException("The mail could not be sent");
		});
		this.services = application.getBean(AdvisedApplication.Services.class);
		this.manager = application.getBean(PlatformTransactionManager.class);
		this.jdbc = database.jdbc();
		this.client = new Client(
				Integer.parseInt(application.getEnvironment().getRequiredProperty("local.server.port")));
	}

	private static void afterCommit(Runnable task) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				task.run();
			}

		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "/charge-apart", "/charge-by-service", "/charge-and-note-failure",
			"/charge-and-note-failure-once", "/charge-by-task", "/charge-by-stream", "/charge-by-future" })
	void handlerThatThrowsBehindItsCommitIsDoneWithoutAResult(String path) {
		assertThat(post(path).status()).isEqualTo(500);
		assertThat(post(path).text()).contains("result-unavailable");
		assertThat(this.charges.runs).hasValue(1);
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	@Test
	void methodThatThrowsBehindItsCommitIsDoneWithoutAResult() {
		Supplier<String> work = () -> this.charges.insert(this.ref);
		assertThatIllegalStateException().isThrownBy(() -> this.services.guarded(this.ref, work))
			.withMessageContaining("mail");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.services.guarded(this.ref, work));
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	@Test
	void methodWhoseFutureFailsBehindTheCommitIsDoneWithoutAResult() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> call = this.services.later(this.ref, work);
		completeBehindCommit(work);
		assertThat(call).failsWithin(PATIENCE).withThrowableThat().havingRootCause().withMessageContaining("mail");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.services.later(this.ref, new CompletableFuture<>()));
	}

	@Test
	void methodWhoseFutureFailsIsFreeWhateverWasThrownBehindAnOlderCommitOfTheThread() {
		completeBehindCommit(new CompletableFuture<>());
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> call = this.services.later(this.ref, work);
		work.completeExceptionally(new IllegalStateException("rejected"));
		assertThat(call).failsWithin(PATIENCE);
		CompletableFuture<String> again = this.services.later(this.ref, CompletableFuture.completedFuture("second"));
		assertThat(again).succeedsWithin(PATIENCE).isEqualTo("second");
	}

	private void completeBehindCommit(CompletableFuture<String> work) {
		try {
			work.complete(this.services.within(() -> this.charges.insert(this.ref)));
		}
		catch (IllegalStateException ex) {
			work.completeExceptionally(ex);
		}
	}

	@Test
	void handlerThatIsRepeatedBehindItsCommitIsRejected() {
		MethodInterceptor retry = (call) -> {
			try {
				return ((ProxyMethodInvocation) call).invocableClone().proceed();
			}
			catch (IllegalStateException ex) {
				return call.proceed();
			}
		};
		this.charges.around = retry;
		assertThat(post("/charge-apart").status()).isEqualTo(500);
		assertThat(this.charges.runs).hasValue(1);
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	/** Its own transaction is rolled back by the exception of the other one. */
	@Test
	void handlerIsFreeWhenAnotherTransactionHasThrownBehindItsCommit() {
		for (int run = 1; run <= 2; run++) {
			assertThat(post("/charge-and-log").status()).isEqualTo(500);
			assertThat(this.charges.runs).hasValue(run);
		}
		assertThat(rows(this.ref)).isZero();
		assertThat(rows(this.ref + "-log")).isEqualTo(2);
	}

	@Test
	void answerThatHasCommittedIsTheAnswerWhateverIsThrownBehindTheCommit() {
		Answer first = post("/charge");
		assertThat(first.status()).isEqualTo(201);
		assertThat(first.text()).isEqualTo("charge in run 1");
		Answer second = post("/charge");
		assertThat(second.replayed()).isTrue();
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void transactionThatHasCommittedIsNotJoined(boolean completed) {
		AtomicReference<Exception> rejection = new AtomicReference<>();
		Runnable call = () -> {
			try {
				this.services.joined(this.ref, () -> "joined");
			}
			catch (IllegalStateException ex) {
				rejection.set(ex);
			}
		};
		new TransactionTemplate(this.manager).executeWithoutResult(
				(status) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						if (!completed) {
							call.run();
						}
					}

					@Override
					public void afterCompletion(int how) {
						if (completed) {
							call.run();
						}
					}

				}));
		assertThat(rejection.get()).hasMessageContaining("is ending");
		assertThat(this.services.joined(this.ref, () -> "joined")).isEqualTo("joined");
	}

	private Answer post(String path) {
		return this.client.post(path + "?ref=" + this.ref, this.ref);
	}

	private int rows(String reference) {
		return this.jdbc.queryForObject("select count(*) from charge where ref = ?", Integer.class, reference);
	}

}
