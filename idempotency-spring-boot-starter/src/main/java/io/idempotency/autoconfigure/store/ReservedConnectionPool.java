package io.idempotency.autoconfigure.store;

import java.time.Duration;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Wrapped;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * A small pool for the R2DBC store alone, over the connections that the pool of the
 * application is made of, if there is one that the work of the application could use up.
 * No bean is of its type, so it is never taken for one of the application.
 */
final class ReservedConnectionPool implements AutoCloseable {

	private static final boolean POOLS = ClassUtils.isPresent("io.r2dbc.pool.ConnectionPool",
			ReservedConnectionPool.class.getClassLoader());

	private final @Nullable ConnectionFactory pool;

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
		return new ReservedConnectionPool((POOLS && size > 0) ? Pools.like(application, size, storeTimeout) : null);
	}

	/** Returns the connections, {@code null} if each call opens one anyway. */
	@Nullable ConnectionFactory connections() {
		return this.pool;
	}

	@Override
	public void close() {
		if (this.pool != null) {
			Pools.close(this.pool);
		}
	}

	/** A class of its own, because the pool may be missing. */
	private static final class Pools {

		static @Nullable ConnectionFactory like(ConnectionFactory application, int size, Duration storeTimeout) {
			Object seen = application;
			while (!(seen instanceof ConnectionPool) && seen instanceof Wrapped<?> wrapped) {
				seen = wrapped.unwrap();
			}
			return (seen instanceof ConnectionPool pool)
					? new ConnectionPool(ConnectionPoolConfiguration.builder(pool.unwrap())
						.initialSize(0)
						.maxSize(size)
						.maxAcquireTime(storeTimeout)
						.build())
					: null;
		}

		static void close(ConnectionFactory pool) {
			((ConnectionPool) pool).dispose();
		}

	}

}
