package io.idempotency.it.jdbc;

import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.StoreAlone;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresMySql;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.ServerClockContract;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/**
 * The law of every store on every database, and on pools with other settings than the
 * usual. Two stores with a pool each stand for two nodes.
 */
@StoreAlone
class JdbcStoreContractTests {

	private static final int POOL_SIZE = 12;

	@Nested
	class H2 extends Contract {

		@Override
		HikariDataSource pool(String name) {
			return h2(name, "");
		}

	}

	@Nested
	class H2AsPostgreSql extends Contract {

		@Override
		HikariDataSource pool(String name) {
			return h2(name, ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH");
		}

	}

	@Nested
	class H2AsMySql extends Contract {

		@Override
		HikariDataSource pool(String name) {
			return h2(name, ";MODE=MySQL;DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE");
		}

	}

	@Nested
	@RequiresPostgreSql
	class PostgreSql16 extends Contract {

		private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_16).newDatabase();

		@Override
		HikariDataSource pool(String name) {
			return this.database.pool(POOL_SIZE);
		}

	}

	@Nested
	@RequiresPostgreSql
	class PostgreSql18 extends Contract {

		private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

		@Override
		HikariDataSource pool(String name) {
			return this.database.pool(POOL_SIZE);
		}

	}

	/** As Hibernate's users like their pools, and the strictest isolation. */
	@Nested
	@RequiresPostgreSql
	class PostgreSqlSerializableWithoutAutoCommit extends Contract {

		private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

		@Override
		HikariDataSource pool(String name) {
			return this.database.pool(POOL_SIZE, (config) -> {
				config.setAutoCommit(false);
				config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
			});
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDb extends Contract {

		private final SqlDatabase database = MariaDbServer.shared().newDatabase();

		@Override
		HikariDataSource pool(String name) {
			return this.database.pool(POOL_SIZE);
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDbWithoutAutoCommit extends Contract {

		private final SqlDatabase database = MariaDbServer.shared().newDatabase();

		@Override
		HikariDataSource pool(String name) {
			return this.database.pool(POOL_SIZE, (config) -> config.setAutoCommit(false));
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDbThroughTheDriverOfMySql extends Contract {

		private final SqlDatabase database = MariaDbServer.shared().newDatabase().asMySql();

		@Override
		HikariDataSource pool(String name) {
			return this.database.pool(POOL_SIZE);
		}

	}

	/** The statements for MySQL, which must work on its offspring as well. */
	@Nested
	@RequiresMariaDb
	class MySqlStatements extends Contract {

		private final SqlDatabase database = MariaDbServer.shared().newDatabase().asMySql();

		@Override
		HikariDataSource pool(String name) {
			return this.database.pool(POOL_SIZE);
		}

		@Override
		DataSource asSeenByTheStore(DataSource dataSource) {
			return new PretendsToBeMySql(dataSource);
		}

	}

	@Nested
	@RequiresMySql
	class MySql extends Contract {

		private final SqlDatabase database = RealMySql.newDatabase();

		@Override
		HikariDataSource pool(String name) {
			return this.database.pool(POOL_SIZE);
		}

	}

	@Nested
	@RequiresMySql
	class MySqlWithoutAutoCommit extends Contract {

		private final SqlDatabase database = RealMySql.newDatabase();

		@Override
		HikariDataSource pool(String name) {
			return this.database.pool(POOL_SIZE, (config) -> config.setAutoCommit(false));
		}

	}

	static HikariDataSource h2(String name, String options) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1" + options);
		config.setMaximumPoolSize(POOL_SIZE);
		return new HikariDataSource(config);
	}

	abstract static class Contract extends ServerClockContract {

		private final String name = UUID.randomUUID().toString();

		private HikariDataSource one;

		private HikariDataSource another;

		abstract HikariDataSource pool(String name);

		DataSource asSeenByTheStore(DataSource dataSource) {
			return dataSource;
		}

		@BeforeAll
		void open() {
			this.one = pool(this.name);
			this.another = pool(this.name);
			JdbcSchema schema = new JdbcSchema(asSeenByTheStore(this.one), JdbcIdempotencyStore.DEFAULT_TABLE_NAME);
			schema.create();
			schema.create();
			schema.verify();
			warmUp();
		}

		@AfterAll
		void close() {
			this.one.close();
			this.another.close();
		}

		@Override
		public IdempotencyStore store() {
			return Tables.store(asSeenByTheStore(this.one));
		}

		@Override
		public IdempotencyStore anotherStore() {
			return Tables.store(asSeenByTheStore(this.another));
		}

	}

}
