package io.idempotency.it.jdbc;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which commits of PostgreSQL wait for the disk: all but those that attach the answer to
 * work that is committed and marked as executed. A trigger notes the setting that each
 * change of a record is committed with.
 */
@EachDatabase(value = {},
		and = { Database.POSTGRESQL_18, Database.POSTGRESQL_16, Database.POSTGRESQL_WITH_SIMPLE_QUERIES })
@StoreAlone
class JdbcDurabilityTests {

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final JdbcNode node;

	private final IdempotencyStore joining;

	JdbcDurabilityTests(TestDatabase database) {
		HikariDataSource pool = database.newPool(2);
		this.jdbc = new JdbcTemplate(pool);
		this.transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
		this.node = new JdbcNode(pool);
		this.joining = this.node.store().joining().orElseThrow();
		this.jdbc.execute("drop table if exists durability");
		this.jdbc.execute("create table durability (number serial, setting text)");
		this.jdbc.execute("create or replace function note_durability() returns trigger language plpgsql as $$ begin"
				+ " insert into durability (setting) values (current_setting('synchronous_commit'));"
				+ " return null; end $$");
		this.jdbc.execute("create or replace trigger note_durability after insert or update on " + Tables.RECORDS
				+ " for each row execute function note_durability()");
	}

	@AfterEach
	void stop() {
		this.node.close();
	}

	@Test
	void answerThatIsAttachedToExecutedWorkIsNotWaitedFor() {
		Claim claim = executed();
		assertThat(this.node.store().complete(Requests.result(claim))).isTrue();
		assertThat(settings()).containsExactly("on", "on", "off");
		assertThat(this.jdbc.queryForObject("show synchronous_commit", String.class)).isEqualTo("on");
	}

	@Test
	void everyCommitOfAClaimOfItsOwnIsWaitedFor() {
		Claim claim = Requests.acquire(this.node.store(), Requests.claim());
		assertThat(this.node.store().complete(Requests.result(claim))).isTrue();
		assertThat(settings()).containsExactly("on", "on");
	}

	@Test
	void transactionOfTheCallerKeepsItsSetting() {
		Claim claim = executed();
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.joining.complete(Requests.result(claim))).isTrue();
			assertThat(this.jdbc.queryForObject("show synchronous_commit", String.class)).isEqualTo("on");
		});
		assertThat(settings()).containsExactly("on", "on", "on");
	}

	private Claim executed() {
		Claim claim = this.transaction.execute((status) -> {
			Claim acquired = Requests.acquire(this.joining, Requests.claim());
			assertThat(this.joining.complete(Requests.executed(acquired))).isTrue();
			return acquired;
		});
		assertThat(claim).isNotNull();
		return claim;
	}

	private List<String> settings() {
		return this.jdbc.queryForList("select setting from durability order by number", String.class);
	}

}
