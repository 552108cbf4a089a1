package io.idempotency.store.r2dbc;

import java.net.URI;
import java.util.UUID;

import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.MySqlServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;

/**
 * A new database, as drivers of both kinds see it.
 *
 * @param jdbc as JDBC sees it
 * @param driver the name of the R2DBC driver
 * @param name the name of the database
 */
record TestDatabase(SqlDatabase jdbc, String driver, String name) {

	static TestDatabase h2() {
		String name = UUID.randomUUID().toString();
		return new TestDatabase(new SqlDatabase("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1", 0, "sa"), "h2", name);
	}

	static TestDatabase postgreSql() {
		return of(PostgreSqlServer.shared(PostgreSqlBinary.values()[0]).newDatabase(), "postgresql");
	}

	static TestDatabase mariaDb() {
		return of(MariaDbServer.shared().newDatabase(), "mariadb");
	}

	/** MariaDB through the driver of MySQL, which takes it for a MySQL. */
	static TestDatabase mariaDbAsMySql() {
		return of(MariaDbServer.shared().newDatabase(), "mysql");
	}

	static TestDatabase mySql() {
		return of(MySqlServer.shared().newDatabase(), "mysql");
	}

	static TestDatabase of(SqlDatabase jdbc, String driver) {
		URI url = URI.create(jdbc.url().substring("jdbc:".length()));
		return new TestDatabase(jdbc, driver, url.getPath().substring(1));
	}

	/** Makes the table. */
	TestDatabase withTable() {
		new JdbcSchema(this.jdbc.unpooled(), JdbcIdempotencyStore.DEFAULT_TABLE_NAME).create();
		return this;
	}

	ConnectionFactory connections() {
		ConnectionFactoryOptions.Builder options = ConnectionFactoryOptions.builder()
			.option(ConnectionFactoryOptions.DRIVER, this.driver)
			.option(ConnectionFactoryOptions.USER, this.jdbc.user())
			.option(ConnectionFactoryOptions.PASSWORD, "");
		if (this.driver.equals("h2")) {
			options.option(ConnectionFactoryOptions.PROTOCOL, "mem")
				.option(ConnectionFactoryOptions.DATABASE, this.name + ";DB_CLOSE_DELAY=-1");
		}
		else {
			options.option(ConnectionFactoryOptions.HOST, "localhost")
				.option(ConnectionFactoryOptions.PORT, this.jdbc.port())
				.option(ConnectionFactoryOptions.DATABASE, this.name);
		}
		return ConnectionFactories.get(options.build());
	}

	/** Returns a statement that takes two seconds. */
	String slowStatement() {
		return switch (this.driver) {
			case "h2" -> {
				this.jdbc.jdbc()
					.execute("create alias if not exists park for 'java.util.concurrent.locks.LockSupport.parkNanos'");
				yield "SELECT PARK(2000000000)";
			}
			case "postgresql" -> "SELECT pg_sleep(2)";
			default -> "SELECT SLEEP(2)";
		};
	}

	ConnectionPool pool(int size) {
		return pool(connections(), size);
	}

	static ConnectionPool pool(ConnectionFactory connections, int size) {
		return new ConnectionPool(
				ConnectionPoolConfiguration.builder(connections).initialSize(1).maxSize(size).build());
	}

}
