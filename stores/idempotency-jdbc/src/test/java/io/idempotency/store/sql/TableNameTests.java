package io.idempotency.store.sql;

import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.jdbc.JdbcSchema;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class TableNameTests {

	@ParameterizedTest
	@ValueSource(strings = { "idempotency_record", "_x", "T1", "app.idempotency_record", "App.Record2" })
	void nameWithOrWithoutSchemaIsAccepted(String name) {
		assertThat(new TableName(name)).hasToString(name);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "1a", "a b", "a;b", "a.b.c", ".a", "a.", "a-b", "ä", "\"a\"", "a'", "a--",
			"x; drop table y", "a\n", "a234567890b234567890c234567890d234567890e234567890f" })
	void anythingElseIsRefusedEverywhere(String name) {
		DriverManagerDataSource dataSource = new DriverManagerDataSource();
		assertThatIllegalArgumentException().isThrownBy(() -> new TableName(name)).withMessageContaining(name);
		assertThatIllegalArgumentException().isThrownBy(() -> new JdbcIdempotencyStore(dataSource, name));
		assertThatIllegalArgumentException().isThrownBy(() -> new JdbcSchema(dataSource, name));
	}

}
