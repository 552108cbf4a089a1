package io.idempotency.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.codec.AesGcmResultCipher;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.codec.ResultCipher;
import io.idempotency.codec.ResultEncryption;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.Scheduler;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Guarded calls in real transactions of their callers: what is rolled back is never given
 * to a duplicate as done.
 */
class CallerTransactionTests {

	private final JdbcTemplate database = new JdbcTemplate(dataSource());

	private JdbcTransactionManager manager = new JdbcTransactionManager(this.database.getDataSource());

	private final TransactionTemplate transaction = new TransactionTemplate(this.manager);

	private final Scheduler scheduler = Scheduler.system();

	private final IdempotencyEngine engine = new IdempotencyEngine(10, IdempotencyListener.NONE, this.scheduler,
			CallerTransaction::current);

	private final IdempotencyTemplate template = template(this.engine);

	private final AtomicInteger runs = new AtomicInteger();

	private static IdempotencyTemplate template(IdempotencyEngine engine) {
		return new DefaultIdempotencyTemplate(engine, new MemoryIdempotencyStore(1_000_000),
				new Jackson2ResultCodec(new ObjectMapper()), IdempotencyOptions.DEFAULTS);
	}

	private static JdbcDataSource dataSource() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:surrounding;DB_CLOSE_DELAY=-1");
		return dataSource;
	}

	@BeforeEach
	void createTable() {
		this.database.execute("create table payment (id varchar(10) primary key)");
	}

	@AfterEach
	void close() {
		this.database.execute("drop table payment");
		this.engine.close();
		this.scheduler.close();
	}

	private void pay(String id) {
		this.template.operation("payment").key(id).run(() -> {
			this.runs.incrementAndGet();
			this.database.update("insert into payment values (?)", id);
		});
	}

	private int payments() {
		return this.database.queryForObject("select count(*) from payment", Integer.class);
	}

	@Test
	void sameKeyAgainInItsTransactionGetsTheFirstResultAlsoWhereResultsAreEncrypted() {
		ResultCipher cipher = new AesGcmResultCipher("k1", Map.of("k1", new byte[32]));
		try (IdempotencyEngine encrypting = new IdempotencyEngine(10, DetachedCalls.Limits.DEFAULTS,
				IdempotencyListener.NONE, this.scheduler, CallerTransaction::current,
				new ResultEncryption(cipher, false), EngineObserver.NONE)) {
			IdempotencyTemplate encrypted = template(encrypting);
			this.transaction.executeWithoutResult((status) -> {
				for (int i = 0; i < 2; i++) {
					assertThat(encrypted.operation("pay").key("p-1").execute(Integer.class, this.runs::incrementAndGet))
						.isEqualTo(1);
				}
			});
			assertThat(encrypted.operation("pay").key("p-1").execute(Integer.class, this.runs::incrementAndGet))
				.isEqualTo(1);
		}
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void committedWorkIsDone() {
		this.transaction.executeWithoutResult((status) -> pay("7"));
		pay("7");
		assertThat(this.runs).hasValue(1);
		assertThat(payments()).isOne();
	}

	@Test
	void rolledBackWorkRunsAgain() {
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
			pay("7");
			throw new IllegalStateException("later in the caller");
		}));
		assertThat(payments()).isZero();
		pay("7");
		assertThat(this.runs).hasValue(2);
		assertThat(payments()).isOne();
	}

	@Test
	void workThatIsOnlyMarkedForRollbackRunsAgain() {
		this.transaction.executeWithoutResult((status) -> {
			pay("7");
			status.setRollbackOnly();
		});
		pay("7");
		assertThat(this.runs).hasValue(2);
		assertThat(payments()).isOne();
	}

	@Test
	void sameKeyAgainInsideTheTransactionGivesTheFirstResult() {
		this.transaction.executeWithoutResult((status) -> {
			pay("7");
			pay("7");
		});
		assertThat(this.runs).hasValue(1);
		assertThat(payments()).isOne();
	}

	@Test
	void transactionOfItsOwnInsideIsAnother() {
		TransactionTemplate own = new TransactionTemplate(this.manager);
		own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
			pay("outer");
			own.executeWithoutResult((inner) -> pay("inner"));
			throw new IllegalStateException("outer");
		}));
		pay("inner");
		pay("outer");
		assertThat(this.runs).hasValue(3);
		assertThat(payments()).isEqualTo(2);
	}

	@Test
	void whatASavepointUndoesRunsAgainThoughTheTransactionCommits() {
		this.transaction.executeWithoutResult((status) -> {
			pay("before");
			assertThatIllegalStateException().isThrownBy(() -> nested().executeWithoutResult((inner) -> {
				pay("7");
				throw new IllegalStateException("row");
			}));
			pay("after");
		});
		assertThat(payments()).isEqualTo(2);
		pay("7");
		pay("before");
		pay("after");
		assertThat(this.runs).hasValue(4);
		assertThat(payments()).isEqualTo(3);
	}

	@Test
	void whatASavepointUndoesRunsAgainInTheSameTransaction() {
		this.transaction.executeWithoutResult((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> nested().executeWithoutResult((inner) -> {
				pay("7");
				throw new IllegalStateException("row");
			}));
			nested().executeWithoutResult((inner) -> pay("7"));
		});
		pay("7");
		assertThat(this.runs).hasValue(2);
		assertThat(payments()).isOne();
	}

	@Test
	void whatASavepointKeepsIsDoneWithTheTransaction() {
		this.transaction.executeWithoutResult((status) -> {
			Object savepoint = status.createSavepoint();
			pay("7");
			status.releaseSavepoint(savepoint);
			Object later = status.createSavepoint();
			pay("8");
			status.rollbackToSavepoint(later);
		});
		pay("7");
		pay("8");
		assertThat(this.runs).hasValue(3);
		assertThat(payments()).isEqualTo(2);
	}

	private TransactionTemplate nested() {
		TransactionTemplate nested = new TransactionTemplate(this.manager);
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		return nested;
	}

	/**
	 * The work of a future is other threads', and a rollback here undoes nothing of it.
	 */
	@Test
	void workThatGoesOnAfterTheMethodIsDoneWhateverBecomesOfTheTransaction() {
		CompletableFuture<Integer> work = new CompletableFuture<>();
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
			CompletableFuture<Integer> answer = later(() -> work);
			work.complete(1);
			assertThat(answer.join()).isEqualTo(1);
			throw new IllegalStateException("caller");
		}));
		assertThat(later(this::inserted)).isCompletedWithValue(1);
		assertThat(this.runs).hasValue(0);
	}

	/** Its work was done in the transaction, as that of a value. */
	@Test
	void futureThatIsCompleteAtTheReturnIsDoneWhenTheTransactionCommits() {
		assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
			assertThat(later(this::inserted)).isCompletedWithValue(1);
			assertThat(later(this::inserted)).as("in the same transaction").isCompletedWithValue(1);
			throw new IllegalStateException("caller");
		}));
		assertThat(payments()).isZero();
		this.transaction.executeWithoutResult((status) -> assertThat(later(this::inserted)).isCompletedWithValue(2));
		assertThat(later(this::inserted)).as("a duplicate").isCompletedWithValue(2);
		assertThat(this.runs).hasValue(2);
		assertThat(payments()).isOne();
	}

	private CompletableFuture<Integer> inserted() {
		this.database.update("insert into payment values ('7')");
		return CompletableFuture.completedFuture(this.runs.incrementAndGet());
	}

	private CompletableFuture<Integer> later(Supplier<CompletableFuture<Integer>> work) {
		return this.template.operation("later").key("7").executeAsync(Integer.class, work);
	}

	@Test
	void callAfterTheCommitIsDoneAtOnce() {
		this.transaction.executeWithoutResult(
				(status) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCompletion(int how) {
						CallerTransactionTests.this.template.operation("mail")
							.key("7")
							.run(CallerTransactionTests.this.runs::incrementAndGet);
					}

				}));
		this.template.operation("mail").key("7").run(this.runs::incrementAndGet);
		assertThat(this.runs).hasValue(1);
	}

	/** Spring only logs an exception that is thrown after the end. */
	@Test
	void notifiesOthersWhenOneFails() {
		List<TransactionOutcome> outcomes = new ArrayList<>();
		this.transaction.executeWithoutResult((status) -> {
			CallerTransaction.register((outcome) -> {
				throw new IllegalStateException("first");
			});
			CallerTransaction.register(outcomes::add);
		});
		assertThat(outcomes).containsExactly(TransactionOutcome.COMMITTED);
	}

	/** A commit that was sent may have succeeded, whatever the manager reports. */
	@Test
	void outcomeIsUnknownWhenCommitFails() {
		this.manager = new JdbcTransactionManager(this.database.getDataSource()) {

			private static final long serialVersionUID = 1L;

			@Override
			protected void doCommit(DefaultTransactionStatus status) {
				throw new DataIntegrityViolationException("a deferred constraint");
			}

		};
		assertThat(outcomes(true)).containsExactly(TransactionOutcome.UNKNOWN);
		assertThat(outcomes(false)).containsExactly(TransactionOutcome.UNKNOWN);
	}

	/** Spring does not call beforeCommit of a call that starts in such a callback. */
	@Test
	void outcomeOfACallInACallbackIsUnknownWhenCommitFails() {
		this.manager = new JdbcTransactionManager(this.database.getDataSource()) {

			private static final long serialVersionUID = 1L;

			@Override
			protected void doCommit(DefaultTransactionStatus status) {
				throw new TransactionSystemException("the reply is lost");
			}

		};
		List<TransactionOutcome> outcomes = new ArrayList<>();
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> new TransactionTemplate(this.manager)
				.executeWithoutResult((status) -> TransactionSynchronizationManager
					.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void beforeCommit(boolean readOnly) {
							CallerTransaction.register(outcomes::add);
						}

					})));
		assertThat(outcomes).containsExactly(TransactionOutcome.UNKNOWN);
	}

	@Test
	void outcomeIsRolledBackWhenTransactionRollsBackBeforeItsCommit() {
		this.manager.addListener(new CommitTracker());
		assertThat(outcomes(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				throw new IllegalStateException("no");
			}

		})).containsExactly(TransactionOutcome.ROLLED_BACK);
	}

	private List<TransactionOutcome> outcomes(boolean tracked) {
		if (tracked) {
			this.manager.addListener(new CommitTracker());
		}
		return outcomes(new TransactionSynchronization() {
		});
	}

	private List<TransactionOutcome> outcomes(TransactionSynchronization other) {
		List<TransactionOutcome> outcomes = new ArrayList<>();
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
				CallerTransaction.register(outcomes::add);
				TransactionSynchronizationManager.registerSynchronization(other);
			}));
		return outcomes;
	}

}
