package io.idempotency.autoconfigure;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.ClassUtils;

/**
 * Compares the time-outs of a pool with the store time-out, because the store cannot
 * bound the wait for a connection.
 */
final class PoolTimeoutCheck {

	private static final Logger logger = LoggerFactory.getLogger(PoolTimeoutCheck.class);

	static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			PoolTimeoutCheck.class.getClassLoader());

	private PoolTimeoutCheck() {
	}

	/** Logs a warning if the pool lets a call wait for longer than the store time-out. */
	static void compare(DataSource dataSource, Duration storeTimeout) {
		if (HIKARI) {
			OfHikari.compare(dataSource, storeTimeout.toMillis());
		}
	}

	/** A class of its own, because HikariCP may be missing. */
	private static final class OfHikari {

		static void compare(DataSource dataSource, long storeMillis) {
			try {
				if (dataSource.isWrapperFor(HikariDataSource.class)) {
					compare(dataSource.unwrap(HikariDataSource.class), storeMillis);
				}
			}
			catch (SQLException ex) {
				logger.debug("The pool behind {} cannot be looked at", dataSource.getClass(), ex);
			}
		}

		/**
		 * Compares two time-outs: the wait for a connection, and the check of an idle
		 * connection before the pool gives it away.
		 */
		private static void compare(HikariDataSource pool, long storeMillis) {
			Map<String, Long> waits = new LinkedHashMap<>();
			waits.put("'spring.datasource.hikari.connection-timeout'", pool.getConnectionTimeout());
			waits.put("'spring.datasource.hikari.validation-timeout'", pool.getValidationTimeout());
			waits.values().removeIf((millis) -> millis <= storeMillis);
			if (!waits.isEmpty()) {
				logger.warn("The pool of the JDBC store lets a call wait {} ms for a connection, which is longer than"
						+ " 'idempotency.store-timeout' ({} ms): while the database is away or the pool is used up,"
						+ " guarded calls wait for so long. Set {} to {} or less, or raise 'idempotency.store-timeout'",
						Collections.max(waits.values()), storeMillis, String.join(" and ", waits.keySet()),
						storeMillis);
			}
		}

	}

}
