package io.idempotency.it.servers;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Tests of the launcher of PostgreSQL.
 */
@Nightly
@Requires(Backend.POSTGRESQL)
@StoreAlone
class PostgreSqlServersTests extends SqlServersContract {

	@Override
	SqlServer start() {
		return PostgreSqlServer.start(PostgreSqlBinary.POSTGRESQL_18);
	}

	@ParameterizedTest
	@EnumSource
	void everyBinaryIsTheVersionItClaimsToBe(PostgreSqlBinary binary) {
		PostgreSqlServer server = PostgreSqlServer.shared(binary);
		assertThat(server.newDatabase().jdbc().queryForObject("show server_version", String.class))
			.isEqualTo(binary.version());
	}

	@Test
	void onlyDurableServerWaitsForTheDisk() {
		try (PostgreSqlServer server = PostgreSqlServer.startDurable(PostgreSqlBinary.POSTGRESQL_18)) {
			assertThat(fsync(server)).isEqualTo("on");
		}
		assertThat(fsync(PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18))).isEqualTo("off");
	}

	private static String fsync(PostgreSqlServer server) {
		return server.newDatabase().jdbc().queryForObject("show fsync", String.class);
	}

	@Test
	void serverOfRootRunsWhereNamespacesAreForbidden() {
		assumeTrue(PostgreSqlServer.Account.isRoot(), "only root needs another account");
		try (PostgreSqlServer server = PostgreSqlServer.start(PostgreSqlBinary.POSTGRESQL_16,
				PostgreSqlServer.Account.NOBODY)) {
			assertThat(server.newDatabase().jdbc().queryForObject("select 1", Integer.class)).isEqualTo(1);
		}
	}

	@Test
	void serverDiesWithItsJvm() {
		DeadJvm.expectDeathOfServer(Main.class);
	}

	/** Starts a server, even pauses it, and never ends by itself. */
	static final class Main {

		private Main() {
		}

		public static void main(String[] args) throws Exception {
			PostgreSqlServer server = PostgreSqlServer.start(PostgreSqlBinary.POSTGRESQL_18);
			server.newDatabase();
			server.pause();
			System.out.println(server.pid());
			Thread.currentThread().join();
		}

	}

}
