package io.idempotency.it.jdbc;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.SqlDatabase;

/**
 * What the JDBC store is tested on: products, and ways to use them. Whoever adds one adds
 * it here, and the classes that are for {@link EachDatabase} of its {@link Kind} test it.
 */
enum Database {

	/** Everybody's database for tests. */
	H2(Kind.PRODUCT, Product.H2, Dialect.H2),

	/** An application that has PostgreSQL has it in its tests. */
	H2_AS_POSTGRESQL(Kind.MODE, Product.H2, Dialect.H2,
			"MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH"),

	/** An application that has MySQL has it in its tests. */
	H2_AS_MYSQL(Kind.MODE, Product.H2, Dialect.H2,
			"MODE=MySQL;DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE"),

	/** An application that has Oracle has it in its tests. */
	H2_AS_ORACLE(Kind.MODE, Product.H2, Dialect.H2, "MODE=Oracle"),

	/** The newest. */
	POSTGRESQL_18(Kind.PRODUCT, Product.POSTGRESQL, Dialect.POSTGRESQL),

	/** The oldest that the tests run on. */
	POSTGRESQL_16(Kind.VERSION, Product.POSTGRESQL, Dialect.POSTGRESQL) {

		@Override
		SqlDatabase newDatabase() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_16).newDatabase();
		}

	},

	/** As PgBouncer's users have it. */
	POSTGRESQL_WITH_SIMPLE_QUERIES(Kind.PROTOCOL, Product.POSTGRESQL, Dialect.POSTGRESQL, "preferQueryMode=simple"),

	/** As Hibernate's users like their pools, and the strictest isolation. */
	POSTGRESQL_SERIALIZABLE_WITHOUT_AUTO_COMMIT(Kind.POOL, Product.POSTGRESQL, Dialect.POSTGRESQL) {

		@Override
		void configure(HikariConfig pool) {
			pool.setAutoCommit(false);
			pool.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		}

	},

	/** Through its own driver. */
	MARIADB(Kind.PRODUCT, Product.MARIADB, Dialect.MARIADB),

	/** Statements that the server prepares. */
	MARIADB_WITH_PREPARED_STATEMENTS(Kind.PROTOCOL, Product.MARIADB, Dialect.MARIADB, "useServerPrepStmts=true"),

	/** As Hibernate's users like their pools. */
	MARIADB_WITHOUT_AUTO_COMMIT(Kind.POOL, Product.MARIADB, Dialect.MARIADB) {

		@Override
		void configure(HikariConfig pool) {
			pool.setAutoCommit(false);
		}

	},

	/** The driver of MySQL does not know what MariaDB can do beyond MySQL. */
	MARIADB_THROUGH_THE_DRIVER_OF_MYSQL(Kind.DRIVER, Product.MARIADB, Dialect.MARIADB) {

		@Override
		SqlDatabase address(SqlDatabase plain) {
			return plain.asMySql();
		}

	},

	/** The statements for MySQL, which must work on its offspring as well. */
	MYSQL_STATEMENTS(Kind.DIALECT, Product.MARIADB, Dialect.MYSQL) {

		@Override
		SqlDatabase address(SqlDatabase plain) {
			return plain.asMySql();
		}

		@Override
		DataSource asSeenByTheStore(DataSource dataSource) {
			return new PretendsToBeMySql(dataSource);
		}

	},

	/** As {@link #MYSQL_STATEMENTS}, prepared by the server. */
	MYSQL_STATEMENTS_PREPARED(Kind.PROTOCOL, Product.MARIADB, Dialect.MYSQL) {

		@Override
		SqlDatabase address(SqlDatabase plain) {
			return plain.asMySql().with("useServerPrepStmts=true");
		}

		@Override
		DataSource asSeenByTheStore(DataSource dataSource) {
			return new PretendsToBeMySql(dataSource);
		}

	},

	/** A real one. */
	MYSQL(Kind.PRODUCT, Product.MYSQL, Dialect.MYSQL),

	/** As Hibernate's users like their pools. */
	MYSQL_WITHOUT_AUTO_COMMIT(Kind.POOL, Product.MYSQL, Dialect.MYSQL) {

		@Override
		void configure(HikariConfig pool) {
			pool.setAutoCommit(false);
		}

	};

	private final Kind kind;

	private final Product product;

	private final Dialect dialect;

	private final String options;

	Database(Kind kind, Product product, Dialect dialect) {
		this(kind, product, dialect, "");
	}

	Database(Kind kind, Product product, Dialect dialect, String options) {
		this.kind = kind;
		this.product = product;
		this.dialect = dialect;
		this.options = options;
	}

	Kind kind() {
		return this.kind;
	}

	Product product() {
		return this.product;
	}

	Dialect dialect() {
		return this.dialect;
	}

	/** Makes an empty one, as the product's own driver sees it. */
	SqlDatabase newDatabase() {
		return this.product.newDatabase();
	}

	/**
	 * What is in the URL.
	 * @param plain the database, as the product's own driver sees it
	 * @return the database
	 */
	SqlDatabase address(SqlDatabase plain) {
		return plain.with(this.options);
	}

	/** Whether a claim that waits for a row ends by itself, and not with its line. */
	boolean endsWaitsItself() {
		return this.dialect.endsWaitsItself();
	}

	/** What is different from other pools. */
	void configure(HikariConfig pool) {
		// nothing
	}

	/** What the store is given. */
	DataSource asSeenByTheStore(DataSource dataSource) {
		return dataSource;
	}

	/** Why a database is in the list. */
	enum Kind {

		/** A product, as most have it. */
		PRODUCT,

		/** Another version of it. */
		VERSION,

		/** H2 that pretends to be another product. */
		MODE,

		/** Another driver. */
		DRIVER,

		/** Statements that are made for another product. */
		DIALECT,

		/** Another way to bring statements to the server. */
		PROTOCOL,

		/** A pool with other settings than the usual. */
		POOL

	}

}
