package io.idempotency.it.jdbc;

import java.util.UUID;
import java.util.stream.LongStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
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
 * What a guarded call costs, as the server counts it: what a driver asks on its own
 * account is a round trip, too.
 */
@EachDatabase(value = { Database.Kind.PRODUCT, Database.Kind.DRIVER, Database.Kind.DIALECT },
		having = Product.Trait.INNODB)
class JdbcServerQuestionTests {

	private final Dialect dialect;

	private final DataSource dataSource;

	private final JdbcNode node;

	JdbcServerQuestionTests(TestDatabase database) {
		database.jdbc().execute("create table if not exists payment (id varchar(36) primary key)");
		this.dialect = database.type().dialect();
		HikariDataSource pool = database.newPool(4);
		this.dataSource = database.asSeenByTheStore(pool);
		this.node = new JdbcNode(this.dataSource, pool);
		// Connects, and asks the database what it has to ask once.
		this.node.execute(freshKey(), () -> "done");
	}

	@AfterEach
	void stop() {
		this.node.close();
	}

	@Test
	void serverIsAskedNoMoreThanTheStatements() {
		String key = freshKey();
		this.node.execute(key, () -> "done");
		assertThat(questionsOf(() -> this.node.execute(freshKey(), () -> "done"))).as("fresh").isEqualTo(2);
		assertThat(questionsOf(() -> this.node.execute(key, () -> "again"))).as("duplicate")
			.isEqualTo(this.dialect.duplicate());
	}

	@Test
	void serverIsAskedNoMoreThanTheStatementsOfAJoinedCall() {
		IdempotencyStore joining = this.node.store().joining().orElseThrow();
		long alone = questionsOf(() -> transaction(() -> {
		}));
		long joined = questionsOf(() -> transaction(() -> {
			Claim claim = Requests.acquired(joining.claim(Requests.claim(Requests.key())));
			joining.complete(Requests.executed(claim));
		}));
		assertThat(joined - alone).isEqualTo(this.dialect.joined());
	}

	private void transaction(Runnable work) {
		new TransactionTemplate(new DataSourceTransactionManager(this.dataSource)).executeWithoutResult((status) -> {
			new JdbcTemplate(this.dataSource).update("insert into payment values (?)", freshKey());
			work.run();
		});
	}

	/**
	 * The least of some runs: the pool asks whether a connection lives that was not used
	 * for half a second, and the server counts that.
	 */
	private long questionsOf(Runnable task) {
		return LongStream.generate(() -> {
			long before = questions();
			task.run();
			// The second look is a question itself.
			return questions() - before - 1;
		}).limit(5).min().orElseThrow();
	}

	private long questions() {
		return new JdbcTemplate(this.dataSource).queryForObject("show global status like 'Questions'",
				(row, number) -> row.getLong(2));
	}

	private static String freshKey() {
		return UUID.randomUUID().toString();
	}

}
