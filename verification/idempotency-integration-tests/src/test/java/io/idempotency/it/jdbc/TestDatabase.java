package io.idempotency.it.jdbc;

import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.SqlServer;
import io.idempotency.it.store.SharedByTests;
import io.idempotency.store.jdbc.JdbcSchema;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A database that the tests of one class share. Thread-safe.
 */
final class TestDatabase extends SharedByTests {

	private final Database type;

	private final @Nullable SqlServer server;

	private final SqlDatabase plain;

	private TestDatabase(Database type, @Nullable SqlServer server, SqlDatabase plain) {
		this.type = type;
		this.server = server;
		this.plain = plain;
	}

	/**
	 * Makes one on a server that many share.
	 * @param type which
	 * @return the database, with the table of the store
	 */
	static TestDatabase open(Database type) {
		return withTable(new TestDatabase(type, null, type.newDatabase()));
	}

	/**
	 * Makes one on a server of its own.
	 * @param type which
	 * @return the database, with the table of the store
	 */
	static TestDatabase onOwnServer(Database type) {
		SqlServer server = type.product().startServer();
		return withTable(new TestDatabase(type, server, server.newDatabase()));
	}

	/** Twice, because an application does that at each of its starts. */
	private static TestDatabase withTable(TestDatabase database) {
		JdbcSchema schema = new JdbcSchema(database.asSeenByTheStore(database.address().unpooled()), Tables.RECORDS);
		schema.create();
		schema.create();
		schema.verify();
		return database;
	}

	/** Another one of this type, without the table, which the test closes. */
	TestDatabase another() {
		return new TestDatabase(this.type, null, this.type.newDatabase());
	}

	Database type() {
		return this.type;
	}

	SqlServer server() {
		if (this.server == null) {
			throw new IllegalStateException("The server of " + this.type + " is not ours");
		}
		return this.server;
	}

	/** Through the product's own driver, whatever the type is. */
	SqlDatabase plain() {
		return this.plain;
	}

	SqlDatabase address() {
		return this.type.address(this.plain);
	}

	/** For a look behind the store's back. */
	JdbcTemplate jdbc() {
		return address().jdbc();
	}

	/** What a store is given instead of a pool. */
	DataSource asSeenByTheStore(DataSource dataSource) {
		return this.type.asSeenByTheStore(dataSource);
	}

	/**
	 * A pool that the test closes.
	 * @param size the greatest number of connections
	 * @return the pool
	 */
	HikariDataSource newPool(int size) {
		return newPool(size, (config) -> {
		});
	}

	/**
	 * A pool that the test closes.
	 * @param size the greatest number of connections
	 * @param customizer what is different from other pools
	 * @return the pool
	 */
	HikariDataSource newPool(int size, Consumer<HikariConfig> customizer) {
		Consumer<HikariConfig> usual = this.type::configure;
		return address().pool(size, usual.andThen(customizer));
	}

	/**
	 * A node with a pool of its own, which the test closes.
	 * @param size the greatest number of connections
	 * @return the node
	 */
	JdbcNode newNode(int size) {
		HikariDataSource pool = newPool(size);
		return new JdbcNode(asSeenByTheStore(pool), pool);
	}

	/**
	 * A pool that all tests share, as the store sees it.
	 * @param name which one, for nodes have a pool each
	 * @param size the greatest number of connections
	 * @return the pool
	 */
	DataSource sharedPool(String name, int size) {
		return asSeenByTheStore(share(name, () -> newPool(size)));
	}

	@Override
	public void close() throws Exception {
		super.close();
		if (this.server != null) {
			this.server.close();
		}
	}

}
