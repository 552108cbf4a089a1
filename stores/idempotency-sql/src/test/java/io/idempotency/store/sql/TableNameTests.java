package io.idempotency.store.sql;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class TableNameTests {

	@ParameterizedTest
	@ValueSource(strings = { "idempotency_record", "_x", "T1", "app.idempotency_record", "App.Record2" })
	void nameWithOrWithoutSchemaIsAccepted(String name) {
		assertThat(new TableName(name).text()).isEqualTo(name);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "1a", "a b", "a;b", "a.b.c", ".a", "a.", "a-b", "ä", "\"a\"", "a'", "a--",
			"x; drop table y", "a\n", "a234567890b234567890c234567890d234567890e234567890f" })
	void rejectsOtherNames(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> new TableName(name)).withMessageContaining(name);
	}

}
