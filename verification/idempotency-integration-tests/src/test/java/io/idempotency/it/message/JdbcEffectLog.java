package io.idempotency.it.message;

import java.util.List;

import org.springframework.jdbc.core.JdbcTemplate;

/** Keeps the lines in a table. */
final class JdbcEffectLog implements EffectLog {

	private final JdbcTemplate jdbc;

	JdbcEffectLog(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
	}

	void createTable() {
		this.jdbc.execute("create table effects (id bigserial primary key, line text not null)");
	}

	@Override
	public void add(String line) {
		this.jdbc.update("insert into effects (line) values (?)", line);
	}

	@Override
	public List<String> lines() {
		return this.jdbc.queryForList("select line from effects order by id", String.class);
	}

}
