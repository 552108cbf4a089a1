package io.idempotency.it.http;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

import javax.sql.DataSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

@OnPostgreSql
class EncryptedAnswersOnPostgreSqlTests extends EncryptedAnswersTests {

	@Autowired
	DataSource dataSource;

	@Override
	Set<String> ids() {
		return new HashSet<>(
				database().queryForList("select encode(key_hash, 'hex') from idempotency_record", String.class));
	}

	@Override
	String bytesOf(String id) {
		return database().queryForObject(
				"select result_format, result_body from idempotency_record where key_hash = decode(?, 'hex')",
				(row, number) -> row.getString(1) + new String(row.getBytes(2), StandardCharsets.ISO_8859_1), id);
	}

	@Override
	void copyResult(String from, String to) {
		assertThat(database().update("""
				update idempotency_record moved set result_format = own.result_format, result_body = own.result_body
				from idempotency_record own
				where own.key_hash = decode(?, 'hex') and moved.key_hash = decode(?, 'hex')""", from, to)).isEqualTo(1);
	}

	private JdbcTemplate database() {
		return new JdbcTemplate(this.dataSource);
	}

}
