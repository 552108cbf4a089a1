package io.idempotency.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.util.Credentials;
import io.idempotency.store.jdbc.JdbcSchema;
import io.idempotency.store.jdbc.ReservedConnections;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A small pool for the JDBC store alone, made like the pool of the application, if there
 * is one that the work of the application could use up. No bean is of its type, so it is
 * never taken for a data source of the application.
 */
final class ReservedPool implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(ReservedPool.class);

	/** Data sources of drivers that open a connection for each use. */
	private static final Set<String> NOT_POOLED = Set.of("org.h2.jdbcx.JdbcDataSource",
			"org.postgresql.ds.PGSimpleDataSource", "org.mariadb.jdbc.MariaDbDataSource",
			"com.mysql.cj.jdbc.MysqlDataSource");

	private final DataSource application;

	private final int size;

	private @Nullable HikariPool pool;

	private ReservedPool(DataSource application, int size) {
		this.application = application;
		this.size = size;
	}

	/**
	 * Makes the pool, which connects to nothing yet.
	 * @param application the source of connections that the store shares with the
	 * application
	 * @param size the number of connections
	 * @param storeTimeout how long a call waits for a connection at most
	 */
	static ReservedPool of(DataSource application, int size, Duration storeTimeout) {
		ReservedPool reserved = new ReservedPool(application, size);
		if (size == 0) {
			return reserved;
		}
		try {
			reserved.make(storeTimeout);
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("The pool behind {} cannot be looked at", application.getClass(), ex);
			missing("the pool behind " + application.getClass().getName() + " cannot be looked at");
		}
		return reserved;
	}

	/** Makes no pool, because the source of connections is the store's own. */
	static ReservedPool none(DataSource dataSource) {
		return new ReservedPool(dataSource, 0);
	}

	private void make(Duration storeTimeout) throws SQLException {
		if (PoolTimeoutCheck.HIKARI && this.application.isWrapperFor(HikariDataSource.class)) {
			this.pool = new HikariPool(this.application.unwrap(HikariDataSource.class), this.size,
					storeTimeout.toMillis());
		}
		else if (isPooled(this.application)) {
			missing(this.application.getClass().getName() + " is no HikariCP");
		}
	}

	private static boolean isPooled(DataSource dataSource) throws SQLException {
		DataSource target = (dataSource instanceof DelegatingDataSource delegating) ? delegating.getTargetDataSource()
				: null;
		return (target != null) ? isPooled(target) : !dataSource.isWrapperFor(AbstractDriverBasedDataSource.class)
				&& !NOT_POOLED.contains(dataSource.getClass().getName());
	}

	private static void missing(String reason) {
		logger.warn("The JDBC store has no connections of its own, because {}: while the work of the application uses"
				+ " up the pool, the claims of running calls are not renewed, so that duplicates may run, and calls"
				+ " inside transactions wait for each other. Give the store a DataSource of its own by a bean that is"
				+ " marked with @IdempotencyDataSource, or accept this by 'idempotency.jdbc.pool-size=0'", reason);
	}

	/**
	 * Connects for the first time, and returns the connections if they lead to the same
	 * table as those of the application.
	 * @return the connections, {@code null} if there are none
	 */
	@Nullable ReservedConnections connections(String tableName) {
		HikariPool made = this.pool;
		if (made == null) {
			return null;
		}
		String difference = difference(made, tableName);
		if (difference == null) {
			return new ReservedConnections(made, this.size, made::isSpare);
		}
		missing(difference);
		close();
		return null;
	}

	private @Nullable String difference(DataSource made, String tableName) {
		try {
			Place place = Place.of(made);
			if (!place.equals(Place.of(this.application))) {
				return "a pool that is made like the application's leads to another place, " + place;
			}
			new JdbcSchema(made, tableName).verify();
			return null;
		}
		catch (SQLException | RuntimeException ex) {
			// The application has connections; it starts with those.
			logger.debug("The reserved pool cannot be used", ex);
			return "a pool that is made like the application's cannot be used: " + ex.getMessage();
		}
	}

	@Override
	public void close() {
		if (this.pool != null) {
			this.pool.close();
			this.pool = null;
		}
	}

	/** Where a table without a schema is looked for. */
	private record Place(@Nullable String catalog, @Nullable String schema) {

		static Place of(DataSource dataSource) throws SQLException {
			try (Connection connection = dataSource.getConnection()) {
				return new Place(connection.getCatalog(), connection.getSchema());
			}
		}

	}

	/**
	 * A pool like that of the application. The credentials are asked for when they are
	 * needed, because the application may change them, or compute them in a subclass.
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
		}

		/** Returns whether the application's pool would give a connection at once. */
		boolean isSpare() {
			HikariPoolMXBean theirs = this.application.getHikariPoolMXBean();
			if (theirs == null) {
				return !this.application.isClosed();
			}
			int waiting = theirs.getThreadsAwaitingConnection();
			boolean grows = waiting == 0 && theirs.getTotalConnections() < this.application.getMaximumPoolSize();
			return grows || theirs.getIdleConnections() > waiting;
		}

		@Override
		public String getUsername() {
			return this.application.getUsername();
		}

		@Override
		public String getPassword() {
			return this.application.getPassword();
		}

		@Override
		public Credentials getCredentials() {
			return this.application.getCredentials();
		}

	}

}
