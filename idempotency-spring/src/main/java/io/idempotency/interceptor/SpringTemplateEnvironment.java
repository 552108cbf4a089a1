package io.idempotency.interceptor;

import java.lang.reflect.Type;
import java.util.function.Supplier;

import io.idempotency.codec.ResultCodec;
import io.idempotency.codec.json.ResultRoundTripCheck;
import io.idempotency.engine.DefaultIdempotencyTemplate.TemplateEnvironment;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.interceptor.ProblemProperties.FailureStatus;
import io.idempotency.key.Caller;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The environment of a template in an application context. Thread-safe.
 */
final class SpringTemplateEnvironment implements TemplateEnvironment {

	private static final boolean TRANSACTIONS = ClassUtils.isPresent(
			"org.springframework.transaction.PlatformTransactionManager",
			SpringTemplateEnvironment.class.getClassLoader());

	private final BeanFactory beanFactory;

	private final ResultRoundTripCheck resultCheck;

	private final Supplier<Caller> caller;

	private final SingletonSupplier<TransactionStarter> transactions;

	/**
	 * Creates the environment.
	 * @param beanFactory the bean factory of the application
	 * @param codec encodes results
	 * @param caller supplies the current caller, to which tokens are bound
	 */
	SpringTemplateEnvironment(BeanFactory beanFactory, ResultCodec codec, Supplier<Caller> caller) {
		this.beanFactory = beanFactory;
		this.resultCheck = new ResultRoundTripCheck(codec);
		this.caller = caller;
		this.transactions = SingletonSupplier.of(() -> MethodTransaction.joined(beanFactory));
	}

	@Override
	public @Nullable ResultCodec codec(String operation) {
		return this.resultCheck.of(operation);
	}

	@Override
	public IdempotencyStore store(String name) {
		try {
			return this.beanFactory.getBean(name, IdempotencyStore.class);
		}
		catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException ex) {
			throw new IllegalArgumentException("'" + name + "' is not a bean of type IdempotencyStore", ex);
		}
	}

	@Override
	public TransactionStarter transactions() {
		if (!TRANSACTIONS) {
			throw new IllegalArgumentException(
					"No transactions are available to join: spring-tx is not on the class path");
		}
		return this.transactions.obtain();
	}

	@Override
	public Caller caller() {
		return this.caller.get();
	}

	@Override
	public int statusOf(Throwable failure) {
		return FailureStatus.of(failure);
	}

	@Override
	public boolean isDeferred(Type type) {
		return DeferredResultTypes.include(type);
	}

}
