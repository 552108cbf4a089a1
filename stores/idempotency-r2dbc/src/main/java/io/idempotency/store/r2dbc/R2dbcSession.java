package io.idempotency.store.r2dbc;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.RecordOperations;
import io.idempotency.store.sql.SqlStep;
import io.idempotency.store.sql.SqlStep.Sql;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcTimeoutException;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Row;
import io.r2dbc.spi.Statement;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One connection for the duration of an operation. On a separate connection, every
 * statement is a transaction, even if the pool switches auto-commit off. On the
 * connection of a transaction, statements belong to that transaction.
 */
final class R2dbcSession {

	/** Under a strict isolation, all calls but one fail in each round. */
	private static final int MAX_ATTEMPTS = 100;

	private static final int MAX_PAUSE_MILLIS = 10;

	private final R2dbcDatabase database;

	private final Connection connection;

	private final Dialect dialect;

	private final LockWait lockWait;

	private final boolean numbered;

	private final long end;

	private final boolean joined;

	private boolean inTransaction;

	private boolean late;

	/**
	 * Creates the session.
	 * @param lockWait the bound on waiting for locks
	 * @param end the deadline of the operation, by {@link System#nanoTime()}
	 * @param joined whether the connection is that of a transaction of the caller
	 */
	R2dbcSession(R2dbcDatabase database, Connection connection, Dialect dialect, LockWait lockWait, long end,
			boolean joined) {
		this.database = database;
		this.connection = connection;
		this.dialect = dialect;
		this.lockWait = lockWait;
		this.end = end;
		this.joined = joined;
		this.inTransaction = joined;
		this.numbered = dialect.vendor().equals("postgresql");
	}

	/**
	 * Returns whether a statement is still in progress, so that no other may follow it.
	 */
	boolean isLate() {
		return this.late;
	}

	/**
	 * Runs an operation, and repeats it if it failed without a change and may succeed.
	 */
	<T> Mono<T> verb(Function<RecordOperations, SqlStep<T>> verb) {
		RecordOperations verbs = new RecordOperations(this.dialect, this.joined, this.lockWait);
		Mono<T> bounded = setting(this.lockWait.begin()).then(attempt(() -> verb.apply(verbs), 1));
		return (this.lockWait.end() == null) ? bounded : bounded.flatMap((answer) -> restore().thenReturn(answer))
			.onErrorResume((failure) -> restore().onErrorComplete().then(Mono.error(failure)));
	}

	private Mono<Void> restore() {
		return this.late ? Mono.empty() : setting(this.lockWait.end());
	}

	/** The settings of a session are sent one by one, which all drivers can do. */
	private Mono<Void> setting(@Nullable String sql) {
		return (sql == null) ? Mono.empty()
				: Flux.fromArray(sql.split("; "))
					.concatMap((one) -> execute(one, List.of(), Result::getRowsUpdated))
					.then();
	}

	private <T> Mono<T> attempt(Supplier<SqlStep<T>> work, int attempt) {
		return Mono.defer(() -> run(work.get())).onErrorResume(R2dbcException.class, (ex) -> {
			SqlStep.Failure failure = classify(ex);
			boolean repeatable = failure == SqlStep.Failure.DEADLOCK || failure == SqlStep.Failure.SERIALIZATION;
			// In a transaction of the caller, the earlier work is lost too.
			if (this.joined || !repeatable || attempt >= MAX_ATTEMPTS || isOver()) {
				return Mono.error(ex);
			}
			return pause(attempt).then(attempt(work, attempt + 1));
		});
	}

	/** Executes a step and the steps after it. */
	private <T> Mono<T> run(SqlStep<T> move) {
		if (move instanceof SqlStep.Done<T> done) {
			return Mono.just(done.answer());
		}
		return carryOut(move).onErrorResume(R2dbcException.class, (ex) -> {
			SqlStep<T> other = move.failed(classify(ex));
			return (other instanceof SqlStep.Failed) ? Mono.error(ex) : Mono.just(other);
		}).flatMap(this::run);
	}

	private <T> Mono<SqlStep<T>> carryOut(SqlStep<T> move) {
		if (move instanceof SqlStep.Query<?, T> query) {
			return query(query);
		}
		if (move instanceof SqlStep.Update<T> update) {
			return update(update);
		}
		if (move instanceof SqlStep.Transaction<?, T> transaction) {
			return transaction(transaction);
		}
		SqlStep.Pause<T> pause = (SqlStep.Pause<T>) move;
		return isOver() ? Mono.fromCallable(() -> pause.next().apply(true))
				: pause(pause.attempt()).then(Mono.fromCallable(() -> pause.next().apply(false)));
	}

	private <R, T> Mono<SqlStep<T>> query(SqlStep.Query<R, T> query) {
		return statement(query.sql(), (result) -> result.map((row, columns) -> query.reader().apply(columns(row))))
			.map(query.next());
	}

	private <T> Mono<SqlStep<T>> update(SqlStep.Update<T> update) {
		Mono<Long> rows = statement(update.sql(), Result::getRowsUpdated).map(R2dbcSession::sum);
		return (update.key() ? rows.flatMap((count) -> (count == 1) ? key() : Mono.just(0L)) : rows)
			.map((number) -> update.next().apply(number));
	}

	/**
	 * Queries the number that the last statement assigned to {@code LAST_INSERT_ID}: the
	 * drivers return it in different ways.
	 */
	private Mono<Long> key() {
		return execute("SELECT LAST_INSERT_ID()", List.of(),
				(result) -> result.map((row, columns) -> columns(row).number(1)))
			.map(R2dbcSession::sum);
	}

	private static long sum(List<Long> numbers) {
		return numbers.stream().mapToLong(Long::longValue).sum();
	}

	private <S, T> Mono<SqlStep<T>> transaction(SqlStep.Transaction<S, T> transaction) {
		return inTransaction(run(transaction.work())).map(transaction.next());
	}

	/** Runs statements in a transaction, which is rolled back if one fails. */
	private <S> Mono<S> inTransaction(Mono<S> work) {
		return bounded(this.connection.beginTransaction()).then(Mono.defer(() -> {
			this.inTransaction = true;
			return work.flatMap((answer) -> commit().thenReturn(answer)).onErrorResume(this::rollback);
		})).doOnTerminate(() -> this.inTransaction = false);
	}

	private Mono<Void> commit() {
		return bounded(this.connection.commitTransaction()).then();
	}

	private <S> Mono<S> rollback(Throwable failure) {
		Mono<S> failed = Mono.error(failure);
		return this.late ? failed : bounded(this.connection.rollbackTransaction()).then(failed)
			.onErrorMap((suppressed) -> suppressed != failure, (suppressed) -> {
				failure.addSuppressed(suppressed);
				return failure;
			});
	}

	/**
	 * Sends a statement. The SQL that bounds its wait may enclose it; in that case all of
	 * it is one transaction.
	 */
	private <R> Mono<List<R>> statement(Sql sql, Function<Result, Publisher<R>> reader) {
		LockWait bound = sql.bounded() ? this.lockWait : LockWait.NONE;
		return Mono.defer(() -> {
			String text = bound.around(sql.text(), left());
			if (bound.resultsBefore() == 0) {
				Mono<List<R>> sent = execute(text, sql.values(), reader);
				if (this.inTransaction || this.connection.isAutoCommit()) {
					return sent;
				}
				return sent.flatMap((answer) -> commit().thenReturn(answer)).onErrorResume(this::rollback);
			}
			List<String> parts = List.of(text.split("; "));
			int at = bound.resultsBefore();
			Mono<List<R>> all = plain(parts.subList(0, at)).then(execute(parts.get(at), sql.values(), reader))
				.onErrorResume((failure) -> undo(bound).onErrorComplete().then(Mono.error(failure)))
				.flatMap((answer) -> plain(parts.subList(at + 1, parts.size())).thenReturn(answer));
			return this.inTransaction ? all : inTransaction(all);
		});
	}

	private Mono<Void> undo(LockWait bound) {
		String undo = bound.undo();
		return (undo == null || this.late) ? Mono.empty() : plain(List.of(undo.split("; ")));
	}

	/** Sends statements without parameters one by one, which all drivers can do. */
	private Mono<Void> plain(List<String> statements) {
		return Flux.fromIterable(statements)
			.concatMap((one) -> execute(one, List.of(), (result) -> result.map((row, columns) -> true)))
			.then();
	}

	private <R> Mono<List<R>> execute(String text, List<Object> values, Function<Result, Publisher<R>> reader) {
		return Mono.defer(() -> {
			Statement statement = this.connection.createStatement(this.numbered ? this.database.numbered(text) : text);
			for (int i = 0; i < values.size(); i++) {
				if (values.get(i) instanceof Class<?> type) {
					statement.bindNull(i, type);
				}
				else {
					statement.bind(i, values.get(i));
				}
			}
			return bounded(Flux.from(statement.execute()).concatMap(reader).collectList());
		});
	}

	private Columns columns(Row row) {
		return new Columns(row, this.dialect.vendor().equals("h2"));
	}

	/** Waits for the reply, no longer than the operation may take. */
	private <R> Mono<R> bounded(Publisher<R> sent) {
		return Mono.defer(() -> {
			long left = left();
			if (left <= 0) {
				return Mono.error(new R2dbcTimeoutException("The call timed out"));
			}
			// Its timer is set before the statement is sent, which may block.
			return Mono.from(sent).timeout(Duration.ofNanos(left), tooLate(), R2dbcDatabase.TIMERS);
		});
	}

	/**
	 * Subscribed to only when the timeout expires first. A reply that arrives before is
	 * not late.
	 */
	private <R> Mono<R> tooLate() {
		return Mono.defer(() -> {
			this.late = true;
			return this.database
				.onThreads(Mono.error(new R2dbcTimeoutException("The database did not respond in time")));
		});
	}

	private Mono<Long> pause(int attempt) {
		long longest = TimeUnit.MILLISECONDS.toNanos(Math.min(attempt, MAX_PAUSE_MILLIS));
		return this.database.onThreads(
				Mono.delay(Duration.ofNanos(ThreadLocalRandom.current().nextLong(longest)), R2dbcDatabase.TIMERS));
	}

	/**
	 * Returns whether a failure aborted the whole transaction of the caller, so that it
	 * must be run again.
	 */
	Mono<Boolean> isLost(R2dbcException failure) {
		SqlStep.Failure kind = classify(failure);
		if (kind == SqlStep.Failure.DEADLOCK || kind == SqlStep.Failure.SERIALIZATION) {
			return Mono.just(true);
		}
		return this.late ? Mono.just(false) : run(this.dialect.endsTransaction(kind)).onErrorReturn(false);
	}

	SqlStep.Failure classify(R2dbcException failure) {
		return this.dialect.classify(failure.getSqlState(), failure.getErrorCode());
	}

	private boolean isOver() {
		return left() <= 0;
	}

	private long left() {
		return this.end - System.nanoTime();
	}

	/**
	 * The columns of a row.
	 *
	 * @param buffers whether large objects are buffers
	 */
	private record Columns(Row row, boolean buffers) implements SqlStep.Row {

		@Override
		public @Nullable String text(int column) {
			return this.row.get(column - 1, String.class);
		}

		/** The H2 driver returns a large object only as a buffer. */
		@Override
		public byte @Nullable [] bytes(int column) {
			if (!this.buffers
					|| this.row.getMetadata().getColumnMetadata(column - 1).getJavaType() != ByteBuffer.class) {
				return this.row.get(column - 1, byte[].class);
			}
			ByteBuffer buffer = this.row.get(column - 1, ByteBuffer.class);
			if (buffer == null) {
				return null;
			}
			byte[] bytes = new byte[buffer.remaining()];
			buffer.get(bytes);
			return bytes;
		}

		@Override
		public long number(int column) {
			return ((Number) value(column)).longValue();
		}

		@Override
		public boolean truth(int column) {
			return (value(column) instanceof Boolean truth) ? truth : number(column) != 0;
		}

		private Object value(int column) {
			Object value = this.row.get(column - 1);
			if (value == null) {
				throw new IllegalStateException("Column " + column + " is null");
			}
			return value;
		}

	}

}
