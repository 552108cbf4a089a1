package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.util.Set;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.RecordTable;
import io.idempotency.store.IdempotencyStore;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Wrapped;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The dedicated connections of the R2DBC store: a small pool of the connections from
 * which the application's pool is made. It is not a bean of type
 * {@link ConnectionFactory}, so that it is not injected into the application.
 */
final class DedicatedConnectionPool implements AutoCloseable {

	/** Startup may wait longer than a call. */
	private static final Duration WAIT = Duration.ofSeconds(10);

	/** Drivers, which open a connection for each use. */
	private static final Set<String> NOT_POOLED = Set.of("io.r2dbc.h2.", "io.r2dbc.postgresql.", "org.mariadb.r2dbc.",
			"io.asyncer.r2dbc.mysql.");

	private static final boolean POOLS = ClassUtils.isPresent("io.r2dbc.pool.ConnectionPool",
			DedicatedConnectionPool.class.getClassLoader());

	private static final String PROBLEM = "The R2DBC store cannot have dedicated connections: ";

	private static final String ACTION = "Declare a ConnectionFactory for the idempotency records and annotate it with"
			+ " @IdempotencyConnectionFactory, or set idempotency.jdbc.pool-size to 0, so that all store operations use"
			+ " the application's pool.";

	private final ConnectionFactory application;

	private final @Nullable ConnectionFactory pool;

	private DedicatedConnectionPool(ConnectionFactory application, @Nullable ConnectionFactory pool) {
		this.application = application;
		this.pool = pool;
	}

	/**
	 * Creates the pool without opening a connection.
	 * @param application the connections of the application
	 * @param size the number of connections, 0 for none
	 * @param storeTimeout the longest wait for a connection
	 * @throws IdempotencyConfigurationException if the application has another pool
	 */
	static DedicatedConnectionPool of(ConnectionFactory application, int size, Duration storeTimeout) {
		Object seen = application;
		while (!isPool(seen) && seen instanceof Wrapped<?> wrapped) {
			seen = wrapped.unwrap();
		}
		String type = seen.getClass().getName();
		if (size == 0 || NOT_POOLED.stream().anyMatch(type::startsWith)) {
			return new DedicatedConnectionPool(application, null);
		}
		if (isPool(seen)) {
			return new DedicatedConnectionPool(application, Pools.like(seen, size, storeTimeout));
		}
		throw new IdempotencyConfigurationException(PROBLEM + type + " is not a connection pool of r2dbc-pool", ACTION);
	}

	private static boolean isPool(Object connections) {
		return POOLS && Pools.include(connections);
	}

	/** Returns the connections of the application. */
	ConnectionFactory application() {
		return this.application;
	}

	/**
	 * Returns the dedicated connections, {@code null} if the store shares those of the
	 * application. The application may configure its connections after they were opened,
	 * so the table is compared.
	 * @throws IdempotencyConfigurationException if the pool leads to another table
	 */
	@Nullable ConnectionFactory connections(String tableName) {
		if (this.pool != null) {
			RecordTable.requireShared(store(this.application, tableName), store(this.pool, tableName),
					PROBLEM + "its connections do not lead to the same table " + tableName
							+ " as those of the application's pool",
					ACTION);
		}
		return this.pool;
	}

	private static IdempotencyStore store(ConnectionFactory connections, String tableName) {
		return new R2dbcIdempotencyStore(connections, null, tableName, WAIT, WAIT).blocking();
	}

	@Override
	public void close() {
		if (this.pool != null) {
			Pools.close(this.pool);
		}
	}

	/** A separate class, because the pool may not be on the class path. */
	private static final class Pools {

		static boolean include(Object connections) {
			return connections instanceof ConnectionPool;
		}

		static ConnectionFactory like(Object pool, int size, Duration storeTimeout) {
			return new ConnectionPool(ConnectionPoolConfiguration.builder(((ConnectionPool) pool).unwrap())
				.initialSize(1)
				.maxSize(size)
				.maxAcquireTime(storeTimeout)
				.build());
		}

		static void close(ConnectionFactory pool) {
			((ConnectionPool) pool).dispose();
		}

	}

}
