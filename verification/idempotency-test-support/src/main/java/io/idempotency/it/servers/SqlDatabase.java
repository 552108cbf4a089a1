package io.idempotency.it.servers;

import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A database of a test.
 *
 * @param url its JDBC URL
 * @param port the port in the URL
 * @param user who may do everything there, without a password
 */
public record SqlDatabase(String url, int port, String user) {

	/**
	 * The same database as seen through something between it and the test.
	 * @param otherPort where that listens
	 * @return the database
	 */
	public SqlDatabase through(int otherPort) {
		return new SqlDatabase(this.url.replace(":" + this.port + "/", ":" + otherPort + "/"), otherPort, this.user);
	}

	/** MariaDB through the driver of MySQL, which takes it for a MySQL. */
	public SqlDatabase asMySql() {
		return new SqlDatabase(this.url.replace("jdbc:mariadb:", "jdbc:mysql:"), this.port, this.user)
			.with("sslMode=DISABLED");
	}

	/**
	 * The same database with further options of the driver.
	 * @param options names and values
	 * @return the database
	 */
	public SqlDatabase with(String options) {
		if (options.isEmpty()) {
			return this;
		}
		String separator = this.url.startsWith("jdbc:h2:") ? ";" : this.url.contains("?") ? "&" : "?";
		return new SqlDatabase(this.url + separator + options, this.port, this.user);
	}

	/** A connection of its own for each use. */
	public DataSource unpooled() {
		return new DriverManagerDataSource(this.url, this.user, "");
	}

	/** For a look behind the store's back. */
	public JdbcTemplate jdbc() {
		return new JdbcTemplate(unpooled());
	}

	/**
	 * A pool that the test closes.
	 * @param size the greatest number of connections
	 * @return the pool
	 */
	public HikariDataSource pool(int size) {
		return pool(size, (config) -> {
		});
	}

	/**
	 * A pool that the test closes.
	 * @param size the greatest number of connections
	 * @param customizer what is different from other pools
	 * @return the pool
	 */
	public HikariDataSource pool(int size, Consumer<HikariConfig> customizer) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(this.url);
		config.setUsername(this.user);
		config.setPassword("");
		config.setMaximumPoolSize(size);
		config.setMinimumIdle(0);
		config.setInitializationFailTimeout(-1);
		customizer.accept(config);
		return new HikariDataSource(config);
	}

}
