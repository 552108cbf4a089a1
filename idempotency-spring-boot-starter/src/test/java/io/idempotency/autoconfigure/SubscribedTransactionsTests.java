package io.idempotency.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.Idempotent;
import io.idempotency.store.Completion;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Guarded methods that are subscribed to in a transaction, or begin one. */
class SubscribedTransactionsTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withBean(NotingStore.class)
		.withBean(Orders.class)
		.withBean(Caller.class)
		.withBean(Transactions.class);

	private void run(Class<?> transactions, Consumer<Application> test) {
		this.application.withUserConfiguration(transactions)
			.run((context) -> test.accept(new Application(context.getBean(Orders.class), context.getBean(Caller.class),
					context.getBean(RecordingStore.class), context.getBean(Transactions.class))));
	}

	private TransactionalOperator operator(Application application) {
		return TransactionalOperator.create(application.transactions);
	}

	@Test
	void completesCallWhenTransactionOfCallerCommits() {
		run(Inside.class, (application) -> {
			for (int i = 0; i < 2; i++) {
				assertThat(operator(application).transactional(application.orders.place("7")).block()).isEqualTo("7:1");
				assertThat(application.caller.place("7").block()).isEqualTo("7:1");
				assertThat(operator(application).transactional(application.orders.lines("8")).collectList().block())
					.containsExactly("8", "line 2");
			}
			assertThat(application.transactions.events).startsWith("begin", "commit", "record");
		});
	}

	@Test
	void releasesKeyWhenTransactionOfCallerIsRolledBack() {
		run(Inside.class, (application) -> {
			Mono<String> fails = application.orders.place("7").then(Mono.error(new IllegalStateException("later")));
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(operator(application).transactional(fails)::block)
				.withMessage("later");
			assertThat(application.transactions.events).containsExactly("begin", "rollback");
			assertThat(application.orders.place("7").block()).isEqualTo("7:2");
		});
	}

	@Test
	void releasesKeyWhenCallIsCancelledWithItsTransaction() {
		run(Inside.class, (application) -> {
			Disposable call = operator(application).transactional(application.orders.never("7")).subscribe();
			application.orders.entered().block();
			call.dispose();
			assertThat(application.transactions.events).containsExactly("begin", "rollback");
			assertThat(application.orders.place("7").retryWhen(Retry.fixedDelay(1000, Duration.ofMillis(10))).block())
				.isEqualTo("7:1");
		});
	}

	/** The transaction commits work of which nothing is known. */
	@Test
	void keepsKeyClaimedWhenCancelledCallCommits() {
		run(Inside.class, (application) -> {
			Mono<String> given = Mono.firstWithSignal(application.orders.never("7"),
					application.orders.entered().thenReturn("other"));
			assertThat(operator(application).transactional(given).block()).isEqualTo("other");
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(application.orders.never("7")::block);
		});
	}

	@Test
	void keepsKeyClaimedWhenCommitOfCallerFails() {
		run(Inside.class, (application) -> {
			application.transactions.commits = false;
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(operator(application).transactional(application.orders.place("7"))::block)
				.withMessage("not committed");
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(application.orders.place("7")::block);
		});
	}

	/** Spring reports no completion after such a failure. */
	@Test
	void completesCallWhenSynchronizationFailsAfterCommit() {
		run(Inside.class, (application) -> {
			Mono<Void> failsLater = TransactionSynchronizationManager.forCurrentTransaction()
				.doOnNext((manager) -> manager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public Mono<Void> afterCommit() {
						return Mono.error(new IllegalStateException("not sent"));
					}

				}))
				.then();
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(operator(application).transactional(failsLater.then(application.orders.place("7")))::block);
			assertThat(application.orders.place("7").block()).isEqualTo("7:1");
		});
	}

	@Test
	void replaysResultWithinTransaction() {
		run(Inside.class, (application) -> {
			Mono<String> twice = application.orders.place("7").then(application.orders.place("7"));
			assertThat(operator(application).transactional(twice).block()).isEqualTo("7:1");
			assertThat(application.store.claims).hasSize(1);
		});
	}

	@Test
	void transactionThatTheCallerPutsAsideDoesNotMatter() {
		run(Inside.class, (application) -> {
			DefaultTransactionDefinition without = new DefaultTransactionDefinition(
					TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
			assertThat(TransactionalOperator.create(application.transactions, without)
				.transactional(application.orders.place("7"))
				.block()).isEqualTo("7:1");
		});
	}

	@Test
	void transactionOfTheMethodEndsBeforeItsRecord() {
		run(Inside.class, (application) -> {
			assertThat(application.orders.booked("7").block()).isEqualTo("7:1 in true");
			assertThat(application.orders.booked("7").block()).isEqualTo("7:1 in true");
			assertThat(application.transactions.events).containsExactly("begin", "commit", "record");
		});
	}

	@Test
	void transactionThatDoesNotCommitLeavesNoResult() {
		run(Inside.class, (application) -> {
			application.transactions.commits = false;
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(application.orders.booked("7")::block)
				.withMessage("not committed");
			application.transactions.commits = true;
			assertThat(application.orders.booked("7").block()).isEqualTo("7:2 in true");
		});
	}

	@Test
	void transactionOfTheMethodMayBeAroundTheGuard() {
		run(Outside.class, (application) -> {
			assertThat(application.orders.booked("7").block()).isEqualTo("7:1 in true");
			assertThat(application.orders.booked("7").block()).isEqualTo("7:1 in true");
			assertThat(application.transactions.events).startsWith("begin", "commit", "record");
		});
	}

	@Test
	void workOfAFutureIsInNoTransactionOfASubscription() {
		run(Inside.class, (application) -> {
			Mono<String> call = Mono.fromFuture(() -> application.orders.later("7")).subscribeOn(Schedulers.parallel());
			assertThat(TransactionalOperator.create(application.transactions).transactional(call).block())
				.isEqualTo("7:1 in false");
			assertThat(call.block()).isEqualTo("7:1 in false");
		});
	}

	/** Notes the ends of records among those of transactions. */
	static final class NotingStore extends RecordingStore {

		private final Transactions transactions;

		NotingStore(Transactions transactions) {
			this.transactions = transactions;
		}

		@Override
		public boolean complete(Completion completion) {
			this.transactions.events.add("record");
			return super.complete(completion);
		}

	}

	/** A memory store would go on on the thread of its caller. */
	@Test
	void workIsNotInATransactionOfTheThread() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withBean(Orders.class)
			.run((context) -> {
				Orders orders = context.getBean(Orders.class);
				TransactionTemplate template = new TransactionTemplate(new ThreadTransactions());
				String first = template.execute((status) -> {
					status.setRollbackOnly();
					return orders.threaded("7").block();
				});
				assertThat(first).isEqualTo("7:1 in false");
				assertThat(orders.threaded("7").block()).isEqualTo("7:1 in false");
			});
	}

	private record Application(Orders orders, Caller caller, RecordingStore store, Transactions transactions) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Inside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 500)
	static class Outside {

	}

	static class Orders {

		private final AtomicInteger runs = new AtomicInteger();

		private final Sinks.Empty<Void> entered = Sinks.empty();

		Mono<Void> entered() {
			return this.entered.asMono();
		}

		@Idempotent(operation = "place", key = "#order")
		Mono<String> place(String order) {
			return Mono.fromSupplier(() -> order + ":" + this.runs.incrementAndGet());
		}

		@Idempotent(operation = "place", key = "#order")
		Mono<String> never(String order) {
			return Mono.<String>never().doOnSubscribe((subscription) -> this.entered.tryEmitEmpty());
		}

		@Idempotent("#order")
		Flux<String> lines(String order) {
			return Flux.defer(() -> Flux.just(order, "line " + this.runs.incrementAndGet()));
		}

		@Idempotent("#order")
		@Transactional
		public Mono<String> booked(String order) {
			return inTransaction(order);
		}

		@Idempotent("#order")
		Mono<String> threaded(String order) {
			return Mono.fromSupplier(() -> order + ":" + this.runs.incrementAndGet() + " in "
					+ org.springframework.transaction.support.TransactionSynchronizationManager
						.isActualTransactionActive());
		}

		@Idempotent("#order")
		CompletableFuture<String> later(String order) {
			return inTransaction(order).toFuture();
		}

		private Mono<String> inTransaction(String order) {
			return TransactionSynchronizationManager.forCurrentTransaction()
				.map(TransactionSynchronizationManager::isActualTransactionActive)
				.onErrorReturn(false)
				.map((active) -> order + ":" + this.runs.incrementAndGet() + " in " + active);
		}

	}

	static class Caller {

		private final Orders orders;

		Caller(Orders orders) {
			this.orders = orders;
		}

		@Transactional
		public Mono<String> place(String order) {
			return Mono.defer(() -> this.orders.place(order));
		}

	}

	/** Notes the ends of its transactions. */
	static final class Transactions extends AbstractReactiveTransactionManager {

		private static final long serialVersionUID = 1L;

		final transient List<String> events = new CopyOnWriteArrayList<>();

		volatile boolean commits = true;

		@Override
		protected Object doGetTransaction(TransactionSynchronizationManager manager) {
			return "transaction";
		}

		@Override
		protected Mono<Void> doBegin(TransactionSynchronizationManager manager, Object transaction,
				TransactionDefinition definition) {
			return note("begin");
		}

		@Override
		protected Mono<Void> doCommit(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
			return this.commits ? note("commit") : Mono.error(() -> new IllegalStateException("not committed"));
		}

		@Override
		protected Mono<Void> doRollback(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
			return note("rollback");
		}

		private Mono<Void> note(String event) {
			return Mono.fromRunnable(() -> this.events.add(event));
		}

	}

	/** Bound to the thread. */
	static final class ThreadTransactions extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		@Override
		protected Object doGetTransaction() {
			return "transaction";
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
