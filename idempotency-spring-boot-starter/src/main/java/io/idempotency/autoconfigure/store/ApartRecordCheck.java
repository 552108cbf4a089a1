package io.idempotency.autoconfigure.store;

import java.time.Duration;
import java.util.UUID;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.key.Caller;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;

/**
 * Tries at the start whether a record that is written apart from the transaction of a
 * caller stays when that is rolled back. With JTA it may not: an XA pool takes every
 * connection into the transaction of the thread. Managers of one resource show their
 * connections, so that the store need not take one of them.
 */
final class ApartRecordCheck implements SmartInitializingSingleton {

	private static final Duration SHORT = Duration.ofMinutes(1);

	private static final Logger logger = LoggerFactory.getLogger(ApartRecordCheck.class);

	private final IdempotencyStore store;

	private final ObjectProvider<PlatformTransactionManager> managers;

	ApartRecordCheck(IdempotencyStore store, ObjectProvider<PlatformTransactionManager> managers) {
		this.store = store;
		this.managers = managers;
	}

	/**
	 * {@inheritDoc}
	 * @throws IdempotencyConfigurationException if a record does not stay
	 */
	@Override
	public void afterSingletonsInstantiated() {
		this.managers.stream()
			.filter((manager) -> !(manager instanceof ResourceTransactionManager))
			.forEach(this::tryOut);
	}

	private void tryOut(PlatformTransactionManager manager) {
		ClaimRequest claim = ClaimRequest
			.of(Namespace.NONE.key("start-up", Caller.GLOBAL, UUID.randomUUID().toString()), SHORT, SHORT);
		TransactionStatus transaction;
		try {
			transaction = manager.getTransaction(new DefaultTransactionDefinition());
		}
		catch (TransactionException ex) {
			logger.debug("{} begins no transaction", manager.getClass(), ex);
			return;
		}
		IdempotencyStoreException failure = null;
		try {
			this.store.claim(claim);
		}
		catch (IdempotencyStoreException ex) {
			failure = ex;
		}
		finally {
			manager.rollback(transaction);
		}
		boolean stays = this.store.renew(claim.key(), claim.claimId(), SHORT);
		this.store.release(claim.key(), claim.claimId());
		if (!stays) {
			throw refused(manager, failure);
		}
	}

	private static IdempotencyConfigurationException refused(PlatformTransactionManager manager,
			@Nullable IdempotencyStoreException cause) {
		String description = "The idempotency records of calls inside transactions of " + manager.getClass().getName()
				+ " are a part of these: their DataSource takes each connection into the transaction of the thread (XA), "
				+ "so duplicates would not see a claim before the commit, and a rollback would lose it";
		String action = "Let the records have a DataSource of their own that takes part in no transaction of others, e.g. "
				+ "a HikariDataSource of the same database, and mark it with @IdempotencyDataSource";
		return (cause != null) ? new IdempotencyConfigurationException(description, action, cause)
				: new IdempotencyConfigurationException(description, action);
	}

}
