package io.idempotency.it.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of the launcher of MariaDB.
 */
@Nightly
@Requires(Backend.MARIADB)
@StoreAlone
class MariaDbServersTests extends SqlServersContract {

	@Override
	SqlServer start() {
		return MariaDbServer.start();
	}

	@Test
	void serverIsTheVersionItClaimsToBe() {
		assertThat(MariaDbServer.shared().newDatabase().jdbc().queryForObject("select version()", String.class))
			.isEqualTo(MariaDbServer.VERSION + "-MariaDB");
	}

	@Test
	void serverIsTakenForMySqlThroughTheDriverOfMySql() {
		SqlDatabase database = MariaDbServer.shared().newDatabase();
		assertThat(productName(database.jdbc())).isEqualTo("MariaDB");
		assertThat(productName(database.asMySql().jdbc())).isEqualTo("MySQL");
	}

	/**
	 * A server that starts deletes the temporary tables it finds, also those another
	 * server is about to read.
	 */
	@Test
	void serverThatStartsLeavesTemporaryTablesOfOthersAlone() throws IOException {
		Path other = Path.of(System.getProperty("java.io.tmpdir"), "#sql-temptable-of-another-server.MAI");
		Files.createFile(other);
		try (MariaDbServer server = MariaDbServer.start()) {
			assertThat(server.newDatabase().jdbc().queryForObject("select @@tmpdir", String.class))
				.isNotEqualTo(System.getProperty("java.io.tmpdir"));
			assertThat(other).exists();
		}
		finally {
			Files.deleteIfExists(other);
		}
	}

	private static String productName(JdbcTemplate jdbc) {
		return jdbc
			.execute((ConnectionCallback<String>) (connection) -> connection.getMetaData().getDatabaseProductName());
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
			MariaDbServer server = MariaDbServer.start();
			server.pause();
			System.out.println(server.pid());
			Thread.currentThread().join();
		}

	}

}
