package io.idempotency.it.jdbc;

import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.SqlDatabase;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A pool of connections to an empty database of its own, which the test closes.
 *
 * @param pool the pool
 * @param dataSource the pool as the store sees it
 */
record TestPool(HikariDataSource pool, DataSource dataSource) implements AutoCloseable {

	static final int SIZE = 24;

	static TestPool h2(String options) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1" + options);
		config.setMaximumPoolSize(SIZE);
		config.setMinimumIdle(0);
		HikariDataSource pool = new HikariDataSource(config);
		return new TestPool(pool, pool);
	}

	static TestPool postgreSql(PostgreSqlBinary binary) {
		return of(PostgreSqlServer.shared(binary).newDatabase(), (dataSource) -> dataSource);
	}

	/** As PgBouncer's users have it. */
	static TestPool postgreSqlWithSimpleQueries(PostgreSqlBinary binary) {
		return of(with(PostgreSqlServer.shared(binary).newDatabase(), "?preferQueryMode=simple"),
				(dataSource) -> dataSource);
	}

	static TestPool mariaDbWithPreparedStatements() {
		return of(with(MariaDbServer.shared().newDatabase(), "?useServerPrepStmts=true"), (dataSource) -> dataSource);
	}

	static TestPool mySqlStatementsPrepared() {
		return of(with(MariaDbServer.shared().newDatabase().asMySql(), "&useServerPrepStmts=true"),
				PretendsToBeMySql::new);
	}

	private static SqlDatabase with(SqlDatabase database, String options) {
		return new SqlDatabase(database.url() + options, database.port(), database.user());
	}

	static TestPool mySql() {
		return of(RealMySql.newDatabase(), (dataSource) -> dataSource);
	}

	static TestPool mariaDb() {
		return of(MariaDbServer.shared().newDatabase(), (dataSource) -> dataSource);
	}

	static TestPool mariaDbThroughTheDriverOfMySql() {
		return of(MariaDbServer.shared().newDatabase().asMySql(), (dataSource) -> dataSource);
	}

	/** The statements for MySQL, which must work on its offspring as well. */
	static TestPool mySqlStatements() {
		return of(MariaDbServer.shared().newDatabase().asMySql(), PretendsToBeMySql::new);
	}

	private static TestPool of(SqlDatabase database, UnaryOperator<DataSource> seen) {
		Consumer<HikariConfig> asIs = (config) -> {
		};
		HikariDataSource pool = database.pool(SIZE, asIs);
		return new TestPool(pool, seen.apply(pool));
	}

	JdbcTemplate jdbc() {
		return new JdbcTemplate(this.dataSource);
	}

	@Override
	public void close() {
		this.pool.close();
	}

}
