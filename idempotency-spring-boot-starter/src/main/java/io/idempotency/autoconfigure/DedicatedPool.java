package io.idempotency.autoconfigure;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.util.Credentials;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.jdbc.DedicatedConnections;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.util.ClassUtils;

/**
 * The dedicated connections of the JDBC store: a small pool with the configuration of the
 * application's. It is not a bean of type {@link DataSource}, so that it is not injected
 * into the application.
 */
final class DedicatedPool implements AutoCloseable {

	/** Data sources of drivers that open a connection for each use. */
	private static final Set<String> NOT_POOLED = Set.of("org.h2.jdbcx.JdbcDataSource",
			"org.postgresql.ds.PGSimpleDataSource", "org.mariadb.jdbc.MariaDbDataSource",
			"com.mysql.cj.jdbc.MysqlDataSource");

	private static final String PROBLEM = "The JDBC store cannot have dedicated connections: ";

	private static final String ACTION = "Declare a DataSource for the idempotency records and annotate it with"
			+ " @IdempotencyDataSource, or set idempotency.jdbc.pool-size to 0, so that all store operations use the"
			+ " application's pool.";

	private final DataSource application;

	private final int size;

	private final @Nullable HikariPool pool;

	private DedicatedPool(DataSource application, int size, @Nullable HikariPool pool) {
		this.application = application;
		this.size = size;
		this.pool = pool;
	}

	/**
	 * Creates the pool, which opens its first connection when one is needed.
	 * @param application the data source of the application
	 * @param size the number of connections, 0 for none
	 * @param storeTimeout the longest wait for a connection
	 * @throws IdempotencyConfigurationException if the data source is a pool that cannot
	 * be copied
	 */
	static DedicatedPool of(DataSource application, int size, Duration storeTimeout) {
		try {
			if (size == 0 || isNotPooled(application)) {
				return new DedicatedPool(application, 0, null);
			}
			if (Hikari.PRESENT && application.isWrapperFor(HikariDataSource.class)) {
				return new DedicatedPool(application, size,
						new HikariPool(application.unwrap(HikariDataSource.class), size, storeTimeout.toMillis()));
			}
		}
		catch (SQLException | RuntimeException ex) {
			throw new IdempotencyConfigurationException(
					PROBLEM + "the target pool of " + application.getClass().getName() + " could not be copied", ACTION,
					ex);
		}
		throw new IdempotencyConfigurationException(
				PROBLEM + application.getClass().getName() + " is not a HikariCP pool", ACTION);
	}

	private static boolean isNotPooled(DataSource dataSource) throws SQLException {
		DataSource target = (dataSource instanceof DelegatingDataSource delegating) ? delegating.getTargetDataSource()
				: null;
		return (target != null) ? isNotPooled(target)
				: dataSource instanceof EmbeddedDatabase || NOT_POOLED.contains(dataSource.getClass().getName())
						|| dataSource.isWrapperFor(AbstractDriverBasedDataSource.class);
	}

	/** Returns the data source of the application. */
	DataSource application() {
		return this.application;
	}

	/**
	 * Returns the dedicated connections, {@code null} if the store shares the
	 * application's pool. A decorator of that pool may select another schema, so its
	 * table is compared.
	 * @throws IdempotencyConfigurationException if the pool leads to another table
	 */
	@Nullable DedicatedConnections connections(String tableName) {
		HikariPool dedicated = this.pool;
		if (dedicated == null) {
			return null;
		}
		if (this.application.getClass() != HikariDataSource.class) {
			RecordTable.requireShared(new JdbcIdempotencyStore(this.application, tableName),
					new JdbcIdempotencyStore(dedicated, tableName), PROBLEM + "a copy of the target pool of "
							+ this.application.getClass().getName() + " does not lead to the same table " + tableName,
					ACTION);
		}
		return new DedicatedConnections(dedicated, this.size, dedicated::applicationHasConnection);
	}

	@Override
	public void close() {
		if (this.pool != null) {
			this.pool.close();
		}
	}

	/**
	 * A copy of the application's pool. It reads the current credentials, because they
	 * may be rotated or computed.
	 */
	private static final class HikariPool extends HikariDataSource {

		private static final long SHORTEST_TIMEOUT = 250;

		private final HikariDataSource application;

		HikariPool(HikariDataSource application, int size, long storeMillis) {
			this.application = application;
			application.copyStateTo(this);
			setPoolName(Objects.requireNonNullElse(application.getPoolName(), "Hikari") + "-idempotency");
			setMaximumPoolSize(size);
			setMinimumIdle(1);
			long timeout = Math.max(SHORTEST_TIMEOUT, storeMillis);
			setConnectionTimeout(timeout);
			setValidationTimeout(Math.min(timeout, application.getValidationTimeout()));
			// A native image without hints for HikariCP does not copy settings.
			validate();
		}

		boolean applicationHasConnection() {
			HikariPoolMXBean theirs = this.application.getHikariPoolMXBean();
			if (theirs == null) {
				return !this.application.isClosed();
			}
			int waiting = theirs.getThreadsAwaitingConnection();
			boolean grows = waiting == 0 && theirs.getTotalConnections() < this.application.getMaximumPoolSize();
			return grows || theirs.getIdleConnections() > waiting;
		}

		@Override
		public Credentials getCredentials() {
			return this.application.getCredentials();
		}

	}

	/** HikariCP may be missing. */
	private static final class Hikari {

		static final boolean PRESENT = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
				DedicatedPool.class.getClassLoader());

	}

}
