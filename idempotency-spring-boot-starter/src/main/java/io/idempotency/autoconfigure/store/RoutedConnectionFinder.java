package io.idempotency.autoconfigure.store;

import java.sql.SQLException;

import javax.sql.DataSource;

import io.idempotency.IdempotencyConfigurationException;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Wrapped;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.r2dbc.connection.lookup.AbstractRoutingConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Finds sources of connections that choose a database by what is bound to the thread or
 * the subscriber, e.g. its tenant. Claims are renewed, and futures end, on other threads
 * than that of the call.
 */
final class RoutedConnectionFinder {

	private static final Logger logger = LoggerFactory.getLogger(RoutedConnectionFinder.class);

	private static final boolean ROUTES = ClassUtils.isPresent(
			"org.springframework.r2dbc.connection.lookup.AbstractRoutingConnectionFactory",
			RoutedConnectionFinder.class.getClassLoader());

	private RoutedConnectionFinder() {
	}

	/**
	 * Refuses a data source that routes, also behind proxies.
	 * @throws IdempotencyConfigurationException if it does
	 */
	static void refuse(DataSource dataSource) {
		if (routes(dataSource)) {
			throw refused("DataSource", dataSource, "what is bound to the thread", "IdempotencyDataSource");
		}
	}

	/**
	 * Refuses a connection factory that routes, also behind proxies.
	 * @throws IdempotencyConfigurationException if it does
	 */
	static void refuse(ConnectionFactory connections) {
		Object seen = connections;
		while (!(ROUTES && seen instanceof AbstractRoutingConnectionFactory) && seen instanceof Wrapped<?> wrapped) {
			seen = wrapped.unwrap();
		}
		if (ROUTES && seen instanceof AbstractRoutingConnectionFactory) {
			throw refused("ConnectionFactory", connections, "the context of its subscriber",
					"IdempotencyConnectionFactory");
		}
	}

	private static IdempotencyConfigurationException refused(String type, Object routing, String by, String mark) {
		return new IdempotencyConfigurationException(
				"The " + type + " of the idempotency records, " + routing.getClass().getName()
						+ ", chooses a database for each connection, and it may choose by " + by
						+ ": claims are renewed and futures end on other threads than that of the call, so they would"
						+ " miss the database of their record, and calls would run twice",
				"Mark a " + type + " of one fixed database with @" + mark + ", and make the tenant a part of the "
						+ "caller. Mark the one that routes only if all calls get the same database from it, e.g. if "
						+ "it only sends transactions that read to a replica.");
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
