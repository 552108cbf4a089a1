package io.idempotency.it.jdbc;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.RememberedFailureException;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A record that commits in the transaction of its work, through both doors. */
abstract class JoinScenarios {

	final String ref = UUID.randomUUID().toString();

	final JoinApplication.Orders proxy;

	final JdbcTemplate jdbc;

	private final PlatformTransactionManager transactionManager;

	private final Client client;

	private final JoinApplication.Orders orders;

	private final int before;

	/**
	 * Starts an application for the first of the tests.
	 * @param database where its orders and its records are
	 * @param properties its properties
	 */
	JoinScenarios(TestDatabase database, String... properties) {
		DataSource pool = database.sharedPool("pool", 12);
		ApplicationContext application = database.share("application", () -> start(pool, properties));
		this.proxy = application.getBean(JoinApplication.Orders.class);
		this.orders = AopTestUtils.getTargetObject(this.proxy);
		this.before = this.orders.runs.get();
		this.jdbc = application.getBean(JdbcTemplate.class);
		this.transactionManager = application.getBean(PlatformTransactionManager.class);
		this.client = new Client(
				Integer.parseInt(application.getEnvironment().getRequiredProperty("local.server.port")));
	}

	static ConfigurableApplicationContext start(DataSource pool, String... properties) {
		return new SpringApplicationBuilder(JoinApplication.class).registerShutdownHook(false)
			.properties("server.port=0", "idempotency.wait-timeout=1s", "idempotency.http.max-response-size=100KB")
			.properties(properties)
			.initializers((context) -> ((GenericApplicationContext) context).registerBean("dataSource",
					DataSource.class, () -> pool))
			.run();
	}

	int runs() {
		return this.orders.runs.get() - this.before;
	}

	private int rows() {
		return this.jdbc.queryForObject("select count(*) from orders where ref like ?", Integer.class, this.ref + "%");
	}

	@Test
	void resultCommitsWithTheWork() throws Exception {
		String first = this.proxy.place(this.ref);
		assertThat(this.proxy.place(this.ref)).isEqualTo(first);
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isEqualTo(1);
	}

	@Test
	void recordIsInTheTransactionThatTheMethodAsksFor() {
		assertThat(this.proxy.isolation(this.ref)).isEqualTo(TransactionDefinition.ISOLATION_SERIALIZABLE);
	}

	@Test
	void overlappingDuplicatesRunOnce() {
		ConcurrentDuplicates.Result<String> storm = ConcurrentDuplicates.of(10).run((i) -> this.proxy.place(this.ref));
		assertThat(storm.values()).isNotEmpty().containsOnly(storm.values().get(0));
		assertThat(storm.failures()).hasSize(10 - storm.values().size())
			.hasOnlyElementsOfType(IdempotencyInProgressException.class);
		assertThat(runs()).isEqualTo(1);
	}

	@Test
	void duplicateThatMeetsTheRunningCallIsRejected() throws Exception {
		this.orders.running = new CountDownLatch(1);
		this.orders.mayEnd = new CountDownLatch(1);
		CompletableFuture<String> first = SchedulerThread.supply(() -> place(this.ref));
		this.orders.running.await();
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> this.proxy.place(this.ref));
		this.orders.mayEnd.countDown();
		String result = first.join();
		assertThat(this.proxy.place(this.ref)).isEqualTo(result);
		assertThat(runs()).isEqualTo(1);
	}

	private String place(String reference) {
		try {
			return this.proxy.place(reference);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void rollbackOfACallerFreesTheKey() throws Exception {
		TransactionTemplate callers = new TransactionTemplate(this.transactionManager);
		callers.executeWithoutResult((status) -> {
			place(this.ref);
			status.setRollbackOnly();
		});
		assertThat(rows()).isZero();
		assertThat(this.proxy.place(this.ref)).isEqualTo("order in run " + this.orders.runs.get());
		assertThat(runs()).isEqualTo(2);
		assertThat(rows()).isEqualTo(1);
	}

	@Test
	void duplicateLeavesTheTransactionOfItsCallerAsItIs() throws Exception {
		this.proxy.place(this.ref);
		TransactionTemplate callers = new TransactionTemplate(this.transactionManager);
		callers.executeWithoutResult((status) -> {
			place(this.ref);
			this.jdbc.update("insert into orders (ref, note) values (?, 'mine')", this.ref + "-mine");
		});
		assertThat(rows()).isEqualTo(2);
		assertThat(runs()).isEqualTo(1);
	}

	@Test
	void silentRollbackIsAFailureAndFreesTheKey() {
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(UnexpectedRollbackException.class)
				.isThrownBy(() -> this.proxy.placeAndRollBack(this.ref));
		}
		assertThat(runs()).isEqualTo(2);
		assertThat(rows()).isZero();
	}

	@Test
	void failureIsRememberedAfterTheRollback() {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.proxy.placeAndRemember(this.ref));
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> this.proxy.placeAndRemember(this.ref))
			.withMessageContaining("failed in run " + this.orders.runs.get());
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isZero();
	}

	@Test
	void duplicateOfTheBusinessIsLookedUpAfterTheRollback() throws Exception {
		this.jdbc.update("insert into orders (ref, note) values (?, 'an earlier one')", this.ref);
		assertThat(this.proxy.placeOrFind(this.ref)).isEqualTo("found an earlier one");
		assertThat(this.proxy.placeOrFind(this.ref)).isEqualTo("found an earlier one");
		assertThat(runs()).isEqualTo(1);
	}

	@Test
	void resultThatIsNotWantedIsForgottenWithTheCommit() throws Exception {
		this.proxy.placeAndForget(this.ref);
		this.proxy.placeAndForget(this.ref);
		assertThat(runs()).isEqualTo(2);
		assertThat(rows()).isEqualTo(2);
	}

	@Test
	void commitsRecordOfMethodWithoutResultWithTheWork() throws Exception {
		AtomicReference<String> state = new AtomicReference<>();
		this.proxy.note(this.ref, state::set);
		assertThat(state).hasValue("R");
		this.proxy.note(this.ref, state::set);
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isEqualTo(1);
	}

	@Test
	void rollsBackRecordOfMethodWithoutResultWithTheWork() throws Exception {
		IllegalStateException failure = new IllegalStateException("failed");
		assertThatIllegalStateException().isThrownBy(() -> this.proxy.note(this.ref, (state) -> {
			throw failure;
		})).isSameAs(failure);
		assertThat(rows()).isZero();
		this.proxy.note(this.ref, (state) -> {
		});
		assertThat(runs()).isEqualTo(2);
		assertThat(rows()).isEqualTo(1);
	}

	@Test
	void appliesReleaseAndRetentionOfMethodWithoutResult() throws Exception {
		this.proxy.note(this.ref, (state) -> {
			IdempotencyContext.current().orElseThrow().releaseKey();
			this.jdbc.update("delete from orders where ref = ?", this.ref);
		});
		AtomicReference<String> state = new AtomicReference<>();
		this.proxy.note(this.ref, (then) -> {
			state.set(then);
			IdempotencyContext.current().orElseThrow().retention(Duration.ofHours(1));
		});
		this.proxy.note(this.ref, state::set);
		assertThat(state).hasValue("R");
		assertThat(runs()).isEqualTo(2);
		Long kept = this.jdbc.queryForObject("select kept_until - fence from idempotency_record"
				+ " where operation like ? order by fence desc limit 1", Long.class, "%Orders.note(%");
		assertThat(Duration.of(kept, ChronoUnit.MICROS)).isBetween(Duration.ofHours(1), Duration.ofHours(2));
	}

	@Test
	void rejectsCallOfTheSameKeyInsideTheWorkAsInProgress() {
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> this.proxy.note(this.ref, (state) -> note(this.ref)));
		assertThat(rows()).isZero();
		assertThat(runs()).isEqualTo(1);
	}

	@Test
	void showsRecordOfMethodWithoutResultWhenItIsCommitted() throws Exception {
		this.orders.running = new CountDownLatch(1);
		this.orders.mayEnd = new CountDownLatch(1);
		CompletableFuture<Void> first = SchedulerThread.run(() -> note(this.ref));
		this.orders.running.await();
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> note(this.ref));
		this.orders.mayEnd.countDown();
		first.get(1, TimeUnit.MINUTES);
		note(this.ref);
		assertThat(runs()).isEqualTo(1);
	}

	private void note(String reference) {
		try {
			this.proxy.note(reference, (state) -> {
			});
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void answerCommitsWithTheWork() throws Exception {
		this.orders.stateAfterCommit = null;
		Answer first = send("/join/on-the-way?what=NOTHING");
		assertThat(first.status()).isEqualTo(201);
		assertThat(this.orders.stateAfterCommit).isEqualTo("D");
		Answer second = send("/join/on-the-way?what=NOTHING");
		assertThat(second.replayed()).isTrue();
		assertThat(second.body()).isEqualTo(first.body()).isNotEmpty();
		assertThat(second.header("X-Order")).isEqualTo(first.header("X-Order")).isNotNull();
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isEqualTo(1);
	}

	/** The answer is made by then, and its headers are set. */
	@ParameterizedTest
	@ValueSource(strings = { "COMMIT_FAILS", "COMMIT_OF_A_LARGE_ANSWER_FAILS" })
	void commitThatFailsIsTheFailureOfTheHandlerAndTheAnswerIsThrownAway(String what) throws Exception {
		for (int i = 0; i < 2; i++) {
			Answer answer = send("/join/on-the-way?what=" + what);
			assertThat(answer.status()).as("%s", answer).isEqualTo(409);
			assertThat(answer.text()).isEqualTo("late");
			assertThat(answer.header("X-Order")).isNull();
			assertThat(answer.header("Content-Type")).startsWith("text/plain");
			assertThat(answer.replayed()).isEqualTo(i == 1);
		}
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isZero();
	}

	@Test
	void answerThatCannotBeRenderedRollsBackAndFreesTheKey() throws Exception {
		for (int i = 0; i < 2; i++) {
			Answer answer = send("/join/on-the-way?what=RENDERING_FAILS");
			assertThat(answer.status()).as("%s", answer).isEqualTo(500);
			assertThat(answer.header("X-Order")).isNull();
		}
		assertThat(runs()).isEqualTo(2);
		assertThat(rows()).isZero();
	}

	@Test
	void answerThatIsTooLargeCommitsBeforeItIsSent() throws Exception {
		this.orders.stateAfterCommit = null;
		Answer first = send("/join/on-the-way?what=LARGE_ANSWER");
		assertThat(first.status()).isEqualTo(201);
		assertThat(first.body()).hasSizeGreaterThan(200_000);
		assertThat(this.orders.stateAfterCommit).isEqualTo("X");
		assertThat(send("/join/on-the-way?what=LARGE_ANSWER").status()).isEqualTo(409);
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isEqualTo(1);
	}

	/** The wrapper may hold a part of it, so its bytes are attached later. */
	@Test
	void answerBehindAnotherWrapperIsAttachedAfterTheCommit() throws Exception {
		Answer first = send("/join/on-the-way?what=NOTHING&wrapped=true");
		assertThat(first.status()).isEqualTo(201);
		assertThat(this.orders.stateAfterCommit).isEqualTo("X");
		Answer second = send("/join/on-the-way?what=NOTHING&wrapped=true");
		assertThat(second.replayed()).isTrue();
		assertThat(second.body()).isEqualTo(first.body()).isNotEmpty();
		assertThat(runs()).isEqualTo(1);
	}

	/** Its bytes are attached later. */
	@Test
	void viewIsRenderedAfterTheCommit() throws Exception {
		Answer first = send("/join/view");
		assertThat(first.text()).endsWith("seen in state X");
		Answer second = send("/join/view");
		assertThat(second.replayed()).isTrue();
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(rows()).isEqualTo(1);
	}

	@Test
	void duplicateThatTheCommitTellsIsLookedUpAndAnswered() throws Exception {
		for (int i = 0; i < 2; i++) {
			assertThat(send("/join/late-duplicate").text()).isEqualTo("found " + this.ref);
		}
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isZero();
	}

	@Test
	void commitThatFailsBecauseTheConnectionBrokeIsNoSuccess() throws Exception {
		for (int i = 0; i < 2; i++) {
			Answer answer = send("/join/lost-commit");
			assertThat(answer.status()).as("%s", answer).isEqualTo(500);
		}
		assertThat(runs()).isEqualTo(2);
		assertThat(rows()).isZero();
	}

	@Test
	void answerOfACommittedEffectIsKeptWhateverItsStatus() throws Exception {
		assertThat(send("/join?status=503").status()).isEqualTo(503);
		Answer second = send("/join?status=503");
		assertThat(second.status()).isEqualTo(503);
		assertThat(second.replayed()).isTrue();
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isEqualTo(1);
	}

	@Test
	void failedHandlerIsRolledBackAndItsKeyFree() throws Exception {
		assertThat(send("/join/failing?status=503").status()).isEqualTo(503);
		assertThat(send("/join/failing?status=503").status()).isEqualTo(503);
		assertThat(runs()).isEqualTo(2);
		assertThat(rows()).isZero();
	}

	@Test
	void rejectionOfARolledBackHandlerIsAResult() throws Exception {
		assertThat(send("/join/failing?status=422").status()).isEqualTo(422);
		Answer second = send("/join/failing?status=422");
		assertThat(second.status()).isEqualTo(422);
		assertThat(second.replayed()).isTrue();
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isZero();
	}

	/**
	 * Sends a request.
	 * @param pathAndQuery where to
	 * @return the answer
	 */
	final Answer send(String pathAndQuery) {
		String separator = pathAndQuery.contains("?") ? "&" : "?";
		return this.client.post(pathAndQuery + separator + "ref=" + this.ref, this.ref);
	}

}
