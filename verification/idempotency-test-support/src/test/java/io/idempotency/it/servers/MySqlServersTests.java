package io.idempotency.it.servers;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of the launcher of MySQL.
 */
@Requires(Backend.MYSQL_PROCESS)
@StoreAlone
class MySqlServersTests extends SqlServersContract {

	@Override
	SqlServer start() {
		return MySqlServer.start();
	}

	@Test
	void serverIsTheVersionItClaimsToBe() {
		assertThat(MySqlServer.shared().newDatabase().jdbc().queryForObject("select version()", String.class))
			.isEqualTo(MySqlServer.VERSION);
	}

	@Test
	void serverKeepsItsTemporaryTablesApart() {
		assertThat(MySqlServer.shared().newDatabase().jdbc().queryForObject("select @@tmpdir", String.class))
			.isNotEqualTo(System.getProperty("java.io.tmpdir"));
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
			MySqlServer server = MySqlServer.start();
			server.pause();
			System.out.println(server.pid());
			Thread.currentThread().join();
		}

	}

}
