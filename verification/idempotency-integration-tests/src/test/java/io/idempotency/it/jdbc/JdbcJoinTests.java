package io.idempotency.it.jdbc;

import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.random.Seed;
import io.idempotency.it.store.Requests;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.TransactionLostException;
import io.idempotency.test.ConcurrentDuplicates;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A storm of transactions that claim, pay and commit together, a quarter of which is
 * rolled back.
 */
@EachDatabase(having = Product.Trait.SERVER)
class JdbcJoinTests {

	private static final int KEYS = 40;

	private static final int THREADS = 16;

	private final JdbcTemplate jdbc;

	private final DataSourceTransactionManager transactions;

	private final JdbcNode node;

	JdbcJoinTests(TestDatabase database) {
		database.jdbc().execute("create table if not exists payment (id varchar(36) primary key, intent varchar(100))");
		HikariDataSource pool = database.newPool(THREADS + 1);
		this.jdbc = new JdbcTemplate(pool);
		this.transactions = new DataSourceTransactionManager(pool);
		this.node = new JdbcNode(pool);
	}

	@AfterEach
	void stop() {
		this.node.close();
	}

	@Test
	void everyKeyIsPaidOnceAtReadCommitted() {
		storm(TransactionDefinition.ISOLATION_READ_COMMITTED);
	}

	@Test
	void everyKeyIsPaidOnceAtRepeatableRead() {
		storm(TransactionDefinition.ISOLATION_REPEATABLE_READ);
	}

	@Test
	void everyKeyIsPaidOnceAtSerializable() {
		storm(TransactionDefinition.ISOLATION_SERIALIZABLE);
	}

	private void storm(int isolation) {
		TransactionTemplate transaction = new TransactionTemplate(this.transactions);
		transaction.setIsolationLevel(isolation);
		String unique = UUID.randomUUID().toString();
		List<String> intents = IntStream.range(0, KEYS).mapToObj((number) -> unique + "-" + number).toList();
		AtomicInteger rolledBack = new AtomicInteger();
		Random random = Seed.random(getClass());
		List<Random> chances = Stream.generate(() -> new Random(random.nextLong())).limit(THREADS).toList();
		List<Integer> threads = ConcurrentDuplicates.of(THREADS).run((thread) -> {
			for (String intent : intents) {
				while (!paid(transaction, intent, chances.get(thread), rolledBack)) {
					Thread.onSpinWait();
				}
			}
			return thread;
		}).valuesOrFail();
		assertThat(threads).hasSize(THREADS);
		assertThat(rolledBack).hasPositiveValue();
		assertThat(this.jdbc.queryForList("select intent from payment where intent like ?", String.class, unique + "%"))
			.containsExactlyInAnyOrderElementsOf(intents);
	}

	/** One call of a client that comes again until it has an answer. */
	private boolean paid(TransactionTemplate transaction, String intent, Random chance, AtomicInteger rolledBack) {
		ClaimRequest request = Requests.claim(Requests.key("test", intent));
		boolean rollBack = chance.nextInt(4) == 0;
		ClaimResult result;
		try {
			result = transaction.execute((status) -> {
				ClaimResult answer = pay(request, intent);
				if (rollBack && answer instanceof ClaimResult.Acquired) {
					rolledBack.incrementAndGet();
					status.setRollbackOnly();
				}
				return answer;
			});
		}
		catch (TransactionLostException ex) {
			return false;
		}
		if (!(result instanceof ClaimResult.Acquired acquired)) {
			return result instanceof ClaimResult.Completed;
		}
		return !rollBack && this.node.store().complete(Requests.result(acquired.claim()));
	}

	private @Nullable ClaimResult pay(ClaimRequest request, String intent) {
		IdempotencyStore joining = this.node.store().joining().orElseThrow();
		ClaimResult answer = joining.claim(request);
		if (answer instanceof ClaimResult.Acquired acquired) {
			this.jdbc.update("insert into payment values (?, ?)", UUID.randomUUID().toString(), intent);
			assertThat(joining.complete(Requests.executed(acquired.claim()))).isTrue();
		}
		return answer;
	}

}
