package io.idempotency.it.jdbc;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.it.servers.StoreAlone;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Records of {@code transaction = JOIN} that are encrypted: also an answer that is
 * attached after the commit.
 */
@StoreAlone
@EachDatabase(value = {}, and = Database.POSTGRESQL_18)
class EncryptedJoinTests extends JoinScenarios {

	EncryptedJoinTests(TestDatabase database) {
		super(database, "idempotency.encryption.keys.k1=q83vEjRWeJCrze8SNFZ4kA==");
	}

	@Test
	void databaseHoldsNothingOfAnAnswer() throws Exception {
		assertThat(send("/join").text()).startsWith("order in run");
		assertEncrypted("OrderController");
	}

	@Test
	void databaseHoldsNothingOfAResult() throws Exception {
		assertThat(this.proxy.place(this.ref)).startsWith("order in run");
		assertEncrypted("Orders.place(");
	}

	@Test
	void databaseHoldsNothingOfARememberedFailure() {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.proxy.placeAndRemember(this.ref));
		assertEncrypted("placeAndRemember");
	}

	private void assertEncrypted(String operation) {
		List<Map<String, Object>> rows = this.jdbc.queryForList(
				"select result_format, result_body from idempotency_record where operation like ? and state = 'D'",
				"%" + operation + "%");
		assertThat(rows).isNotEmpty().allSatisfy((row) -> {
			assertThat(row.get("result_format")).isEqualTo("idempotency.encrypted1");
			assertThat(new String((byte[]) row.get("result_body"), StandardCharsets.ISO_8859_1)).contains("k1")
				.doesNotContain("in run");
		});
	}

	@Test
	void resultOfAnotherKeyIsRejectedAndNothingRuns() throws Exception {
		String mine = this.proxy.place(this.ref);
		byte[] moved = body();
		String other = this.ref + "-other";
		this.proxy.place(other);
		this.jdbc.update("update idempotency_record set result_body = ? where result_body = ?", moved, body());
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> this.proxy.place(other));
		assertThat(this.proxy.place(this.ref)).isEqualTo(mine);
		assertThat(runs()).isEqualTo(2);
	}

	/** Of the latest record. */
	private byte[] body() {
		return this.jdbc.queryForObject("select result_body from idempotency_record order by fence desc limit 1",
				byte[].class);
	}

}
