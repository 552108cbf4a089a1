package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.faults.BadLine;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * No call of the store takes longer than it may, wherever the replies go. The tests wait
 * together, each with a line of its own.
 */
@EachDatabase(value = { Database.Kind.PRODUCT, Database.Kind.DRIVER }, having = Product.Trait.SERVER)
@StoreAlone
@Execution(ExecutionMode.CONCURRENT)
class JdbcLostReplyTimeoutTests {

	private final SqlDatabase database;

	JdbcLostReplyTimeoutTests(TestDatabase database) {
		this.database = database.address();
	}

	@Test
	void callWhoseReplyDoesNotComeEndsInTime() {
		withLine((line, pool) -> {
			Claim claim = Requests.acquired(Tables.store(pool).claim(Requests.claim(Requests.key())));
			line.loseReplies();
			return SchedulerThread.run(() -> hurried(pool).complete(Requests.result(claim)));
		});
	}

	@Test
	void joinedCallWhoseReplyDoesNotComeEndsInTime() {
		withLine((line, pool) -> {
			IdempotencyStore patient = Tables.store(pool).joining().orElseThrow();
			IdempotencyStore joining = hurried(pool).joining().orElseThrow();
			TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
			CompletableFuture<Void> end = new CompletableFuture<>();
			SchedulerThread.run(() -> transaction.executeWithoutResult((status) -> {
				Claim joined = Requests.acquired(patient.claim(Requests.claim(Requests.key())));
				line.loseReplies();
				try {
					joining.complete(Requests.executed(joined));
				}
				catch (IdempotencyStoreException ex) {
					end.completeExceptionally(ex);
				}
				line.reconnect();
				status.setRollbackOnly();
			}));
			return end;
		});
	}

	private void withLine(BiFunction<BadLine, HikariDataSource, CompletableFuture<Void>> call) {
		try (BadLine line = new BadLine(this.database.port());
				HikariDataSource pool = this.database.through(line.port()).pool(2, (config) -> {
					// On a slow machine the pool asks a connection first whether it is
					// alive, and then waits for another one.
					config.setValidationTimeout(500);
					config.setConnectionTimeout(3_000);
				})) {
			CompletableFuture<Void> end = call.apply(line, pool);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> end.get(60, TimeUnit.SECONDS))
				.withCauseInstanceOf(IdempotencyStoreException.class);
			line.reconnect();
		}
	}

	private static JdbcIdempotencyStore hurried(DataSource dataSource) {
		return new JdbcIdempotencyStore(dataSource, Tables.RECORDS, Duration.ofSeconds(1), Duration.ofSeconds(2));
	}

}
