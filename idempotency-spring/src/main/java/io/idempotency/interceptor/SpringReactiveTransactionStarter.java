package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.reactor.ReactiveTransactionStarter;
import io.idempotency.store.ClaimId;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.NoTransactionToJoinException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.TransactionContextManager;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;

/**
 * Spring transactions, each in a separate Reactor context. Every exception of the work
 * rolls back, because failed work must not be recorded as done.
 */
final class SpringReactiveTransactionStarter implements ReactiveTransactionStarter {

	private static final Logger logger = LoggerFactory.getLogger(SpringReactiveTransactionStarter.class);

	/** How long startup waits for an empty transaction. */
	private static final Duration TRY = Duration.ofSeconds(10);

	private static final IdempotencyKey NO_KEY = Namespace.NONE.key("start-up", Caller.GLOBAL, "none");

	private final ReactiveTransactionManager manager;

	private final TransactionDefinition definition;

	private final Duration timeout;

	private SpringReactiveTransactionStarter(ReactiveTransactionManager manager, TransactionDefinition definition,
			Duration timeout) {
		this.manager = manager;
		this.definition = definition;
		this.timeout = timeout;
	}

	/**
	 * Finds the transactions that the record of a method joins: those of the method's own
	 * manager, else of the default one.
	 * @param joining the store in the transaction of its subscriber
	 * @param isFirstTry whether the store did not join a transaction of the manager
	 * before
	 * @param timeout the timeout for the begin and the end of a transaction
	 */
	static SpringReactiveTransactionStarter of(ConfigurableListableBeanFactory beanFactory, Method method,
			Class<?> targetClass, ReactiveIdempotencyStore joining, Predicate<Object> isFirstTry, Duration timeout) {
		MethodTransaction.Joined<ReactiveTransactionManager> joined = MethodTransaction.joined(beanFactory, method,
				targetClass, ReactiveTransactionManager.class, "ConnectionFactory");
		if (joined.definition().getPropagationBehavior() != TransactionDefinition.PROPAGATION_REQUIRED) {
			throw GuardedMethod.problem(method, targetClass,
					"transaction = JOIN, but its @Transactional requires a transaction of the caller, which a "
							+ "guarded call cannot join",
					"Use propagation REQUIRED for @Transactional, or set transaction = TransactionMode.SEPARATE");
		}
		SpringReactiveTransactionStarter starter = new SpringReactiveTransactionStarter(joined.manager(),
				joined.definition(), timeout);
		// A thread that must not block does not try.
		if (!Schedulers.isInNonBlockingThread() && isFirstTry.test(joined.manager())) {
			starter.tryToJoin(method, targetClass, joining);
		}
		return starter;
	}

	/**
	 * Lets the store join an empty transaction. Inside a transaction of another manager,
	 * every call would fail.
	 */
	private void tryToJoin(Method method, Class<?> targetClass, ReactiveIdempotencyStore joining) {
		// Not cancelled after the timeout: a pool may lose the connection.
		CompletableFuture<Void> tried = transactional(joining.release(NO_KEY, ClaimId.random()).then(), (outcome) -> {
		}).toFuture();
		try {
			tried.get(TRY.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			if (ex.getCause() instanceof NoTransactionToJoinException none) {
				throw GuardedMethod.problem(method, targetClass,
						"transaction = JOIN, but its record cannot be stored in " + this + ": " + none.getMessage(),
						"Name the transaction manager of the store's ConnectionFactory in @Transactional, or set "
								+ "transaction = TransactionMode.SEPARATE",
						none);
			}
			logger.debug("Cannot determine before the first call whether records can be stored in {}", this, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public Mono<Void> transactional(Mono<Void> work, Consumer<TransactionOutcome> ended) {
		return Mono.deferContextual((caller) -> {
			if (SpringSurroundingTransactions.current(caller) != null) {
				return Mono.error(
						new GuardMisconfiguredException("A call with transaction = JOIN cannot be guarded, and nothing "
								+ "ran: it is inside an open reactive transaction. Call it outside of that "
								+ "transaction, or set transaction = TransactionMode.SEPARATE", null));
			}
			Context own = TransactionContextManager.getOrCreateContextHolder().apply(Context.empty());
			return TransactionalOperator.create(this.manager, this.definition)
				.transactional(TransactionSynchronizationManager.forCurrentTransaction()
					.doOnNext((current) -> current.registerSynchronization(new Watch(ended)))
					.then(work))
				.onErrorMap(CannotCreateTransactionException.class,
						(ex) -> new IdempotencyStoreException("No transaction could be begun", ex))
				.contextWrite((context) -> context.putAll(own.readOnly()));
		});
	}

	@Override
	public Duration timeout() {
		return this.timeout;
	}

	/** Returns the name of the transaction manager, for messages. */
	@Override
	public String toString() {
		return "the transactions of a " + this.manager.getClass().getSimpleName();
	}

	/**
	 * Receives the end of a transaction. Registered as the first synchronization: if one
	 * fails after the commit, Spring calls no further synchronization.
	 */
	private record Watch(Consumer<TransactionOutcome> ended) implements TransactionSynchronization, Ordered {

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public Mono<Void> afterCommit() {
			return Mono.fromRunnable(() -> this.ended.accept(TransactionOutcome.COMMITTED));
		}

		@Override
		public Mono<Void> afterCompletion(int status) {
			return Mono.fromRunnable(() -> this.ended.accept(switch (status) {
				case STATUS_COMMITTED -> TransactionOutcome.COMMITTED;
				case STATUS_ROLLED_BACK -> TransactionOutcome.ROLLED_BACK;
				default -> TransactionOutcome.UNKNOWN;
			}));
		}

	}

}
