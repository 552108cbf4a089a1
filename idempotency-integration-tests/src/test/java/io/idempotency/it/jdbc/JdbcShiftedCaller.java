package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.Objects;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyException;
import io.idempotency.it.store.ShiftedCaller;
import org.jspecify.annotations.Nullable;

/**
 * A node that may live by another clock.
 */
final class JdbcShiftedCaller implements ShiftedCaller {

	private @Nullable JdbcNode node;

	@Override
	public long time() {
		return System.currentTimeMillis();
	}

	@Override
	public void connect(String url, String user) {
		HikariDataSource pool = new HikariDataSource();
		// The driver manager has none of a driver that is loaded anew.
		pool.setDriverClassName(
				url.startsWith("jdbc:postgresql:") ? "org.postgresql.Driver" : "org.mariadb.jdbc.Driver");
		pool.setJdbcUrl(url);
		pool.setUsername(user);
		pool.setPassword("");
		pool.setMaximumPoolSize(4);
		this.node = new JdbcNode(pool);
	}

	@Override
	public String execute(String key, Duration lease, Duration retention, Runnable action) {
		try {
			return String.valueOf(Objects.requireNonNull(this.node)
				.call(key)
				.lease(lease)
				.retention(retention)
				.execute(String.class, () -> {
					action.run();
					return "done";
				}));
		}
		catch (IdempotencyException refusal) {
			return refusal.getClass().getSimpleName();
		}
	}

	@Override
	public void close() {
		if (this.node != null) {
			this.node.close();
		}
	}

}
