package io.idempotency.it.servers;

import java.sql.SQLException;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What the fault tests rely on.
 */
abstract class SqlServersContract {

	abstract SqlServer start();

	@Test
	void databasesAreApart() {
		try (SqlServer server = start()) {
			JdbcTemplate one = server.newDatabase().jdbc();
			one.execute("create table here (id int)");
			JdbcTemplate two = server.newDatabase().jdbc();
			two.execute("create table here (id int)");
			one.update("insert into here values (1)");
			assertThat(count(two)).isZero();
		}
	}

	@Test
	void killedServerComesBackOnItsPortWithItsData() {
		try (SqlServer server = start()) {
			JdbcTemplate jdbc = server.newDatabase().jdbc();
			jdbc.execute("create table here (id int)");
			jdbc.update("insert into here values (1)");
			server.kill();
			assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> count(jdbc))
				.withRootCauseInstanceOf(java.net.ConnectException.class);
			server.restart();
			assertThat(count(jdbc)).isEqualTo(1);
		}
	}

	@Test
	void pausedServerIsSilentUntilItIsResumed() throws SQLException {
		try (SqlServer server = start();
				HikariDataSource pool = server.newDatabase().pool(2, (config) -> config.setConnectionTimeout(250))) {
			new JdbcTemplate(pool).execute("create table here (id int)");
			pool.getHikariPoolMXBean().softEvictConnections();
			server.pause();
			assertThatExceptionOfType(SQLException.class).isThrownBy(pool::getConnection)
				.withMessageContaining("not available");
			server.resume();
			assertThat(count(new JdbcTemplate(server.newDatabase().unpooled()), "select 0")).isZero();
		}
	}

	private static int count(JdbcTemplate jdbc) {
		return count(jdbc, "select count(*) from here");
	}

	private static int count(JdbcTemplate jdbc, String query) {
		Integer count = jdbc.queryForObject(query, Integer.class);
		assertThat(count).isNotNull();
		return count;
	}

}
