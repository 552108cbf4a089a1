package io.idempotency.it.jdbc;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.StoreFailureMode;
import io.idempotency.it.store.StoreNode;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;

/**
 * A node with a pool of its own.
 */
final class JdbcNode extends StoreNode<JdbcIdempotencyStore> {

	JdbcNode(HikariDataSource pool) {
		this(pool, pool, StoreFailureMode.REJECT);
	}

	JdbcNode(HikariDataSource pool, StoreFailureMode onStoreFailure) {
		this(pool, pool, onStoreFailure);
	}

	JdbcNode(DataSource dataSource, AutoCloseable pool) {
		this(dataSource, pool, StoreFailureMode.REJECT);
	}

	private JdbcNode(DataSource dataSource, AutoCloseable pool, StoreFailureMode onStoreFailure) {
		super(Tables.store(dataSource), pool, onStoreFailure);
	}

}
