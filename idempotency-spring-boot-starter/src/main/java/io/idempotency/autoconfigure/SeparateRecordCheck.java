package io.idempotency.autoconfigure;

import java.time.Duration;
import java.util.UUID;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.key.Caller;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;

/**
 * Checks at startup whether a separately written record survives a rollback of the
 * caller's transaction. With JTA it may not: an XA pool enlists every connection in the
 * transaction of the thread. Managers of one resource expose their connections, so the
 * store need not use one of them.
 */
final class SeparateRecordCheck implements SmartInitializingSingleton {

	private static final Duration SHORT = Duration.ofMinutes(1);

	private static final Logger logger = LoggerFactory.getLogger(SeparateRecordCheck.class);

	private final IdempotencyStore store;

	private final ObjectProvider<PlatformTransactionManager> managers;

	SeparateRecordCheck(IdempotencyStore store, ObjectProvider<PlatformTransactionManager> managers) {
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

	/**
	 * Only a claim that was granted and is missing afterwards shows that the connections
	 * were enlisted. Managers other than JTA managers are checked too. If they or the
	 * store fail now, they may work later.
	 */
	private void tryOut(PlatformTransactionManager manager) {
		ClaimRequest claim = ClaimRequest
			.of(Namespace.NONE.key("start-up", Caller.GLOBAL, UUID.randomUUID().toString()), SHORT, SHORT);
		boolean stays;
		try {
			stays = !claimInside(manager, claim) || this.store.renew(claim.key(), claim.claimId(), SHORT);
			this.store.release(claim.key(), claim.claimId());
		}
		catch (RuntimeException ex) {
			logger.warn("[IDEM-501] Could not check whether idempotency records survive a rollback of {}: if they "
					+ "do not, calls may run twice. Check the exception below. If an XA pool is the cause, give "
					+ "the records a separate DataSource.", manager.getClass().getName(), ex);
			return;
		}
		if (!stays) {
			throw rejected(manager);
		}
	}

	/**
	 * Claims in a transaction that is rolled back.
	 * @return whether the claim was granted
	 */
	private boolean claimInside(PlatformTransactionManager manager, ClaimRequest claim) {
		TransactionStatus transaction;
		try {
			transaction = manager.getTransaction(new DefaultTransactionDefinition());
		}
		catch (RuntimeException ex) {
			logger.debug("{} did not start a transaction", manager.getClass(), ex);
			return false;
		}
		try {
			return this.store.claim(claim) instanceof ClaimResult.Acquired;
		}
		finally {
			manager.rollback(transaction);
		}
	}

	private static IdempotencyConfigurationException rejected(PlatformTransactionManager manager) {
		return new IdempotencyConfigurationException(
				"The idempotency records of calls inside transactions of " + manager.getClass().getName()
						+ " are part of these transactions, because their DataSource enlists each connection (XA). "
						+ "Duplicates would not see a claim before the commit, and a rollback would remove it",
				"Declare a separate, non-XA DataSource for the records, e.g. a HikariDataSource of the same "
						+ "database, and annotate it with @IdempotencyDataSource");
	}

}
