package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.reactor.ReactiveClaim;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Tells a guarded call of the reactive transactions of {@code @Transactional} methods in
 * its work that commit and then fail. Spring tells no listener of those, so each is
 * listened to from inside, by one more advice on the beans that have them; it does
 * nothing outside of guarded calls. Thread-safe.
 */
final class CommitWatch implements BeanPostProcessor, BeanFactoryAware, Ordered {

	private static final MethodInterceptor ADVICE = (call) -> watched(call.proceed(), call.getMethod());

	private SingletonSupplier<Boolean> reactive = SingletonSupplier.of(false);

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.reactive = SingletonSupplier.of(() -> beanFactory instanceof ListableBeanFactory beans
				&& beans.getBeanNamesForType(ReactiveTransactionManager.class, true, false).length > 0);
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof Advised advised && !advised.isFrozen() && this.reactive.obtain()) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor instanceof PointcutAdvisor known
						&& advisor.getAdvice() instanceof TransactionAspectSupport) {
					// The last one is the innermost.
					advised.addAdvisor(new DefaultPointcutAdvisor(known.getPointcut(), ADVICE));
					break;
				}
			}
		}
		return bean;
	}

	/** Comes when the advice of the application is there, and before the guard. */
	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE - 2;
	}

	private static @Nullable Object watched(@Nullable Object result, Method method) {
		if (result instanceof Mono<?> mono && method.getReturnType().isAssignableFrom(Mono.class)) {
			return watched(mono);
		}
		return (result instanceof Flux<?> flux && method.getReturnType().isAssignableFrom(Flux.class)) ? watched(flux)
				: result;
	}

	private static <T> Mono<T> watched(Mono<T> work) {
		return Mono.deferContextual((context) -> {
			ReactiveClaim claim = ReactiveClaim.of(context);
			return (claim != null) ? begun(claim).then(work) : work;
		});
	}

	private static <T> Flux<T> watched(Flux<T> work) {
		return Flux.deferContextual((context) -> {
			ReactiveClaim claim = ReactiveClaim.of(context);
			return (claim != null) ? begun(claim).thenMany(work) : work;
		});
	}

	/** The state of a transaction is in the context, so nothing is waited for. */
	private static Mono<Void> begun(ReactiveClaim claim) {
		return TransactionSynchronizationManager.forCurrentTransaction()
			.onErrorComplete(NoTransactionException.class)
			.filter(TransactionSynchronizationManager::isSynchronizationActive)
			.doOnNext((current) -> current.registerSynchronization(new First(claim, current)))
			.then();
	}

	/** Is told of the commit before anybody else can fail behind it. */
	private static final class First implements TransactionSynchronization, Ordered {

		private final ReactiveClaim claim;

		private final TransactionSynchronizationManager current;

		/** Whether the end of the transaction is a commit. */
		private volatile boolean commits;

		/** Whether the commit was tried, and nobody has told how it has ended. */
		private final AtomicBoolean open = new AtomicBoolean();

		First(ReactiveClaim claim, TransactionSynchronizationManager current) {
			this.claim = claim;
			this.current = current;
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public Mono<Void> beforeCommit(boolean readOnly) {
			return Mono.fromRunnable(() -> this.commits = true);
		}

		@Override
		public Mono<Void> beforeCompletion() {
			return Mono.fromRunnable(() -> {
				this.current.registerSynchronization(new Last(this));
				if (this.commits) {
					this.open.set(true);
					this.claim.commits();
				}
			});
		}

		@Override
		public Mono<Void> afterCommit() {
			return Mono.fromRunnable(() -> {
				answered();
				this.claim.committed();
			});
		}

		/** A rollback that fails behind a commit tells that nobody has answered. */
		@Override
		public Mono<Void> afterCompletion(int status) {
			return Mono.fromRunnable(() -> {
				if (status != STATUS_UNKNOWN) {
					answered();
				}
				if (status != STATUS_COMMITTED && !this.open.get()) {
					this.claim.rolledBack();
				}
			});
		}

		private void answered() {
			if (this.open.getAndSet(false)) {
				this.claim.commitAnswered();
			}
		}

	}

	/** Is told of the commit if nobody has failed behind it before. */
	private record Last(First first) implements TransactionSynchronization {

		@Override
		public Mono<Void> afterCommit() {
			return Mono.fromRunnable(this.first.claim::doneBehindCommit);
		}

	}

}
