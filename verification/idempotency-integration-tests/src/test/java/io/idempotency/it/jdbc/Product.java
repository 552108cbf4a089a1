package io.idempotency.it.jdbc;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.MySqlServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.containers.RealMySql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.SqlServer;
import org.jspecify.annotations.Nullable;

/**
 * The database products: where they come from, and what the tests must know of them.
 */
enum Product {

	/** In this JVM. */
	H2(null, "org.h2.Driver", "select lock_timeout()",
			// It polls for the lock and does not say so: the statement goes on and on.
			"select count(*) from information_schema.sessions "
					+ "where executing_statement is not null and session_id <> session_id()",
			"LOCK_TIMEOUT=60000", "", EnumSet.noneOf(Trait.class)) {

		@Override
		SqlDatabase newDatabase() {
			return new SqlDatabase("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", 0, "");
		}

	},

	/** The newest. */
	POSTGRESQL(Backend.POSTGRESQL, "org.postgresql.Driver", "show lock_timeout",
			"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'", "",
			"socketTimeout=1&connectTimeout=1", EnumSet.of(Trait.SERVER)) {

		@Override
		SqlDatabase newDatabase() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		}

		@Override
		SqlServer startServer() {
			return PostgreSqlServer.start(PostgreSqlBinary.POSTGRESQL_18);
		}

	},

	/** Brought by a Maven artifact. */
	MARIADB(Backend.MARIADB, "org.mariadb.jdbc.Driver", "select @@session.innodb_lock_wait_timeout",
			"select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'", "",
			"socketTimeout=1000&connectTimeout=1000", EnumSet.of(Trait.SERVER, Trait.INNODB)) {

		@Override
		SqlDatabase newDatabase() {
			return MariaDbServer.shared().newDatabase();
		}

		@Override
		SqlServer startServer() {
			return MariaDbServer.start();
		}

	},

	/** A real one. */
	MYSQL(Backend.MYSQL, "com.mysql.cj.jdbc.Driver", "select @@session.innodb_lock_wait_timeout",
			"select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'", "",
			"socketTimeout=1000&connectTimeout=1000", EnumSet.of(Trait.SERVER, Trait.INNODB)) {

		@Override
		SqlDatabase newDatabase() {
			return RealMySql.newDatabase();
		}

		/** A container is not ours to kill. */
		@Override
		Backend serverBackend() {
			return Backend.MYSQL_PROCESS;
		}

		@Override
		SqlServer startServer() {
			return MySqlServer.start();
		}

	};

	private final @Nullable Backend backend;

	private final String driver;

	private final String lockTimeout;

	private final String waitingTransactions;

	private final String patience;

	private final String impatience;

	private final Set<Trait> traits;

	Product(@Nullable Backend backend, String driver, String lockTimeout, String waitingTransactions, String patience,
			String impatience, Set<Trait> traits) {
		this.backend = backend;
		this.driver = driver;
		this.lockTimeout = lockTimeout;
		this.waitingTransactions = waitingTransactions;
		this.patience = patience;
		this.impatience = impatience;
		this.traits = traits;
	}

	/** Whose database has this URL, as its own driver takes it. */
	static Product ofUrl(String url) {
		return valueOf(url.split(":")[1].toUpperCase(Locale.ROOT));
	}

	/** What {@link #newDatabase()} needs. */
	@Nullable Backend backend() {
		return this.backend;
	}

	/** Makes an empty database on a server that the tests of this JVM share. */
	abstract SqlDatabase newDatabase();

	/** What {@link #startServer()} needs. */
	@Nullable Backend serverBackend() {
		return this.backend;
	}

	/** Starts a server for tests that do it harm. */
	SqlServer startServer() {
		throw new UnsupportedOperationException(this + " has no server");
	}

	/** The class of its own driver. */
	String driver() {
		return this.driver;
	}

	/** The query for how long a statement waits for a lock. */
	String lockTimeout() {
		return this.lockTimeout;
	}

	/** The query for how many transactions wait for a lock. */
	String waitingTransactions() {
		return this.waitingTransactions;
	}

	/** The option that lets a statement wait for a lock longer than the store may. */
	String patience() {
		return this.patience;
	}

	/** The options by which silence is an error after a second. */
	String impatience() {
		return this.impatience;
	}

	boolean has(Trait trait) {
		return this.traits.contains(trait);
	}

	/** What only some of them have. */
	enum Trait {

		/** A process behind a port. */
		SERVER,

		/** Ends deadlocks by a rollback, and counts what it was asked. */
		INNODB

	}

}
