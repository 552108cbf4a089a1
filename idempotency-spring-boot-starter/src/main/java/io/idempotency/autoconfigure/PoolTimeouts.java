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
 * How long a pool lets a call of the store wait for a connection, which the store cannot
 * bound.
 */
final class PoolTimeouts {

	private static final Logger logger = LoggerFactory.getLogger(PoolTimeouts.class);

	private static final boolean HIKARI = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			PoolTimeouts.class.getClassLoader());

	private PoolTimeouts() {
	}

	/** Says so where a pool lets a call wait for longer than it may take. */
	static void compare(DataSource dataSource, Duration storeTimeout) {
		if (HIKARI) {
			OfHikari.compare(dataSource, storeTimeout.toMillis());
		}
	}

	/** Loaded where its pool is on the class path. */
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

		/** A connection that was idle is asked whether it lives before it is given. */
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
