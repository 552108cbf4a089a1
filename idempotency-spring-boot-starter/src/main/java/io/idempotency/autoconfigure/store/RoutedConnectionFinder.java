package io.idempotency.autoconfigure.store;

import java.sql.SQLException;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * Finds data sources that choose a database by what is bound to the thread, e.g. its
 * tenant. Claims are renewed, and futures end, on other threads than that of the call.
 */
final class RoutedConnectionFinder {

	private static final Logger logger = LoggerFactory.getLogger(RoutedConnectionFinder.class);

	private RoutedConnectionFinder() {
	}

	/**
	 * Refuses a data source that routes, also behind proxies.
	 * @throws IdempotencyConfigurationException if it does
	 */
	static void refuse(DataSource dataSource) {
		if (routes(dataSource)) {
			throw new IdempotencyConfigurationException("The DataSource of the idempotency records, "
					+ dataSource.getClass().getName()
					+ ", chooses a database for each connection, and it may choose by "
					+ "what is bound to the thread: claims are renewed and futures end on other threads than that of the "
					+ "call, so they would miss the database of their record, and calls would run twice",
					"Mark a DataSource of one fixed database with @IdempotencyDataSource, and make the tenant a part of the "
							+ "caller. Mark the one that routes only if all threads get the same database from it, e.g. if "
							+ "it only sends transactions that read to a replica.");
		}
	}

	private static boolean routes(DataSource dataSource) {
		try {
			return dataSource.isWrapperFor(AbstractRoutingDataSource.class);
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("What is behind {} cannot be seen", dataSource.getClass(), ex);
			return false;
		}
	}

}
