package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.reactor.ReactiveTransactionStarter;
import io.idempotency.store.ClaimId;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.NoTransactionToJoinException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.ReactiveTransaction;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.TransactionContextManager;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * Transactions of Spring, each in a Reactor context of its own. Every exception of the
 * work rolls back, because failed work must not be recorded as done.
 */
final class SpringReactiveTransactionStarter implements ReactiveTransactionStarter {

	private static final Logger logger = LoggerFactory.getLogger(SpringReactiveTransactionStarter.class);

	/** How long the start waits for a transaction that does nothing. */
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
	 * @param isFirstTry whether the store is asked for the first time to join a
	 * transaction of the manager
	 * @param timeout how long the begin or the end of a transaction is waited for
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
		// A thread that must not wait does not try.
		if (!Schedulers.isInNonBlockingThread() && isFirstTry.test(joined.manager())) {
			starter.tryToJoin(method, targetClass, joining);
		}
		return starter;
	}

	/**
	 * Lets the store join one transaction that does nothing. Inside a transaction of
	 * another manager, every call would fail.
	 */
	private void tryToJoin(Method method, Class<?> targetClass, ReactiveIdempotencyStore joining) {
		// Not cancelled when the time is over: a pool may lose the connection.
		CompletableFuture<Void> tried = begin()
			.flatMap((begun) -> joining.release(NO_KEY, ClaimId.random())
				.contextWrite(begun::inside)
				.onErrorResume((failure) -> begun.rollback().onErrorComplete().then(Mono.error(failure)))
				.then(Mono.defer(begun::commit)))
			.toFuture();
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
	public Mono<Begun> begin() {
		return Mono.deferContextual((caller) -> {
			if (SpringSurroundingTransactions.current(caller) != null) {
				return Mono
					.error(new GuardFaultException("A call with transaction = JOIN cannot be guarded, and nothing "
							+ "ran: it is inside of a reactive transaction that is open already. Call it outside of that "
							+ "transaction, or set transaction = TransactionMode.SEPARATE", null));
			}
			Context own = TransactionContextManager.getOrCreateContext()
				.apply(TransactionContextManager.getOrCreateContextHolder().apply(Context.empty()));
			return this.manager.getReactiveTransaction(this.definition)
				.onErrorMap(CannotCreateTransactionException.class,
						(ex) -> new IdempotencyStoreException("The transaction could not be started", ex))
				.flatMap((status) -> new Open(this.manager, status, own).watched())
				.contextWrite((context) -> context.putAll(own.readOnly()));
		});
	}

	@Override
	public Duration timeout() {
		return this.timeout;
	}

	/** Names the transaction manager, for messages. */
	@Override
	public String toString() {
		return "the transactions of a " + this.manager.getClass().getSimpleName();
	}

	/**
	 * A transaction of the manager, which is the first of its own synchronizations:
	 * Spring tells nobody of a commit any more when one of them fails behind it.
	 */
	private static final class Open implements Begun, TransactionSynchronization, Ordered {

		private final ReactiveTransactionManager manager;

		private final ReactiveTransaction status;

		private final Context own;

		private final AtomicReference<@Nullable TransactionOutcome> told = new AtomicReference<>();

		Open(ReactiveTransactionManager manager, ReactiveTransaction status, Context own) {
			this.manager = manager;
			this.status = status;
			this.own = own;
		}

		Mono<Begun> watched() {
			return TransactionSynchronizationManager.forCurrentTransaction()
				.doOnNext((current) -> current.registerSynchronization(this))
				.thenReturn((Begun) this)
				.onErrorResume((failure) -> rollback().onErrorComplete().then(Mono.error(failure)));
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public Mono<Void> afterCommit() {
			return Mono.fromRunnable(() -> this.told.compareAndSet(null, TransactionOutcome.COMMITTED));
		}

		@Override
		public Mono<Void> afterCompletion(int status) {
			this.told.compareAndSet(null, switch (status) {
				case STATUS_COMMITTED -> TransactionOutcome.COMMITTED;
				case STATUS_ROLLED_BACK -> TransactionOutcome.ROLLED_BACK;
				default -> TransactionOutcome.UNKNOWN;
			});
			return Mono.empty();
		}

		@Override
		public Context inside(Context outside) {
			return outside.putAll(this.own.readOnly());
		}

		@Override
		public Mono<Void> commit() {
			return inside(Mono.defer(() -> this.manager.commit(this.status)));
		}

		@Override
		public Mono<Void> rollback() {
			return inside(Mono.defer(() -> this.manager.rollback(this.status)));
		}

		private Mono<Void> inside(Mono<Void> end) {
			return end.contextWrite(this::inside);
		}

		@Override
		public TransactionOutcome outcome() {
			TransactionOutcome known = this.told.get();
			return (known != null) ? known : TransactionOutcome.UNKNOWN;
		}

	}

}
