package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.util.Set;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.autoconfigure.RecordTable;
import io.idempotency.store.IdempotencyStoreException;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Wrapped;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.ClassUtils;

/**
 * A small pool for the R2DBC store alone, over the connections that the pool of the
 * application is made of, if there is one that the work of the application could use up.
 * No bean is of its type, so it is never taken for one of the application.
 */
final class ReservedConnectionPool implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(ReservedConnectionPool.class);

	/** A start may wait longer than a call. */
	private static final Duration WAIT = Duration.ofSeconds(10);

	/** Drivers, which open a connection for each use. */
	private static final Set<String> NOT_POOLED = Set.of("io.r2dbc.h2.", "io.r2dbc.postgresql.", "org.mariadb.r2dbc.",
			"io.asyncer.r2dbc.mysql.");

	private static final boolean POOLS = ClassUtils.isPresent("io.r2dbc.pool.ConnectionPool",
			ReservedConnectionPool.class.getClassLoader());

	private @Nullable ConnectionFactory pool;

	private ReservedConnectionPool(@Nullable ConnectionFactory pool) {
		this.pool = pool;
	}

	/**
	 * Makes the pool, which connects to nothing yet.
	 * @param application the connections that the store shares with the application
	 * @param size the number of connections
	 * @param storeTimeout how long a call waits for a connection at most
	 */
	static ReservedConnectionPool of(ConnectionFactory application, int size, Duration storeTimeout) {
		if (size == 0) {
			return new ReservedConnectionPool(null);
		}
		Object seen = application;
		while (!isPool(seen) && seen instanceof Wrapped<?> wrapped) {
			seen = wrapped.unwrap();
		}
		if (isPool(seen)) {
			return new ReservedConnectionPool(Pools.like(seen, size, storeTimeout));
		}
		String type = seen.getClass().getName();
		if (NOT_POOLED.stream().noneMatch(type::startsWith)) {
			missing(type + " is no pool of r2dbc-pool");
		}
		return new ReservedConnectionPool(null);
	}

	private static boolean isPool(Object connections) {
		return POOLS && Pools.include(connections);
	}

	private static void missing(String reason) {
		logger.warn("The R2DBC store has no connections of its own, because {}: while the work of the application uses"
				+ " up the pool, the claims of running calls are not renewed, so that duplicates may run. Give the store a"
				+ " ConnectionFactory of its own by a bean that is marked with @IdempotencyConnectionFactory, or accept"
				+ " this by 'idempotency.jdbc.pool-size=0'", reason);
	}

	/**
	 * Connects for the first time, and returns the connections if they lead to the same
	 * table as those of the application: it may have set up its own ones after they were
	 * made.
	 * @return the connections, {@code null} if there are none
	 */
	@Nullable ConnectionFactory connections(ConnectionFactory application, String tableName) {
		ConnectionFactory made = this.pool;
		if (made == null) {
			return null;
		}
		String difference = difference(application, made, tableName);
		if (difference == null) {
			return made;
		}
		missing(difference);
		close();
		return null;
	}

	private static @Nullable String difference(ConnectionFactory application, ConnectionFactory made,
			String tableName) {
		try {
			new R2dbcSchema(made, tableName).verify();
			return RecordTable.isShared(new R2dbcIdempotencyStore(application, null, tableName, WAIT, WAIT).blocking(),
					new R2dbcIdempotencyStore(made, null, tableName, WAIT, WAIT).blocking()) ? null
							: "a pool of the connections that the application's is made of leads to another table";
		}
		catch (IdempotencyStoreException | IdempotencyConfigurationException ex) {
			// The application has connections; it starts with those.
			logger.debug("The reserved pool cannot be used", ex);
			return "a pool of the connections that the application's is made of cannot be used: " + ex.getMessage();
		}
	}

	@Override
	public void close() {
		if (this.pool != null) {
			Pools.close(this.pool);
			this.pool = null;
		}
	}

	/** A class of its own, because the pool may be missing. */
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
