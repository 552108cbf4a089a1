package io.idempotency.it.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.store.NodeCaller;
import io.idempotency.it.store.StoreNode;

/**
 * A node that may live by another clock.
 */
final class JdbcShiftedCaller extends NodeCaller {

	@Override
	protected StoreNode<?> node(String url, String user) {
		HikariDataSource pool = new HikariDataSource();
		// The driver manager has none of a driver that is loaded anew.
		pool.setDriverClassName(Product.ofUrl(url).driver());
		pool.setJdbcUrl(url);
		pool.setUsername(user);
		pool.setPassword("");
		pool.setMaximumPoolSize(4);
		return new JdbcNode(pool);
	}

}
