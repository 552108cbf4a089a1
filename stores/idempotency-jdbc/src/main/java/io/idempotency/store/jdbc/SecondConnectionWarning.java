package io.idempotency.store.jdbc;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Warns, once for each operation, of calls that need two connections of one pool at a
 * time: one for the surrounding transaction and one for the record. Thread-safe.
 */
final class SecondConnectionWarning {

	private static final Logger logger = LoggerFactory.getLogger(SecondConnectionWarning.class);

	/** Bounds the memory in applications that make up names of operations at run time. */
	private static final int LIMIT = 1_000;

	private final JdbcDatabase database;

	private final Set<String> told = ConcurrentHashMap.newKeySet();

	SecondConnectionWarning(JdbcDatabase database) {
		this.database = database;
	}

	/** Is called before a record is written in a transaction of its own. */
	void look(String operation) {
		if (TransactionSynchronizationManager.isActualTransactionActive() && this.database.sharesConnections()
				&& TransactionSynchronizationManager.getResource(this.database.dataSource()) instanceof ConnectionHolder
				&& this.told.size() < LIMIT && this.told.add(operation)) {
			logger.warn("'{}' is called inside a transaction, and its record takes a second connection of the same "
					+ "pool: as many such calls at a time as the pool has connections wait for each other until they "
					+ "time out. Let the store have connections of its own (idempotency.jdbc.pool-size), set transaction = "
					+ "TransactionMode.JOIN, or make the pool more than twice as large as the number of these calls",
					operation);
		}
	}

}
