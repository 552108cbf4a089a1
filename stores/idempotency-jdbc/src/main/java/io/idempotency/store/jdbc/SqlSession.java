package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.RecordOperations;
import io.idempotency.store.sql.SqlStep;
import io.idempotency.store.sql.SqlStep.Sql;
import org.jspecify.annotations.Nullable;

/**
 * One connection for the duration of an operation; closing it returns the connection. On
 * a separate connection, every statement is a transaction, even if the pool switches
 * auto-commit off.
 */
abstract class SqlSession implements AutoCloseable {

	private static final int MAX_PAUSE_MILLIS = 10;

	private final Connection connection;

	private final Deadline deadline;

	private final Dialect dialect;

	private final LockWait lockWait;

	final boolean joined;

	private boolean commit;

	/**
	 * Opens the session: the bound on waiting for locks applies from now on.
	 * @param deadline the end of the operation
	 * @param dialect the dialect of the database
	 * @param joined whether the operation is a part of the transaction of the caller, so
	 * that it must see data that was committed since that transaction took its snapshot
	 * @param commit whether each statement has to be committed
	 */
	SqlSession(Connection connection, Deadline deadline, Dialect dialect, LockWait lockWait, boolean joined,
			boolean commit) throws SQLException {
		this.connection = connection;
		this.deadline = deadline;
		this.dialect = dialect;
		this.lockWait = lockWait;
		this.joined = joined;
		this.commit = commit;
		execute(connection, lockWait.begin());
	}

	/**
	 * Runs an operation, and repeats it if it failed without a change and may succeed.
	 */
	final <T> T verb(Function<RecordOperations, SqlStep<T>> verb) {
		RecordOperations verbs = new RecordOperations(this.dialect, this.joined, this.lockWait);
		return run(() -> run(verb.apply(verbs)));
	}

	/** Runs work, and repeats it if it failed without a change and may succeed. */
	final <T> T run(Work<T> work) {
		for (int attempt = 1;; attempt++) {
			try {
				return work.run();
			}
			catch (SQLException ex) {
				failed(ex, attempt);
			}
		}
	}

	/**
	 * Called after an operation failed: returns if it may be run again, and otherwise
	 * throws the failure of the store.
	 */
	abstract void failed(SQLException ex, int attempt);

	/** Returns the connection. */
	abstract void release();

	@Override
	public final void close() {
		try {
			execute(this.connection, this.lockWait.end());
		}
		catch (SQLException ex) {
			failed(ex, Integer.MAX_VALUE);
		}
		finally {
			release();
		}
	}

	final Dialect dialect() {
		return this.dialect;
	}

	/** Returns whether the time is over, so that no statement may begin any more. */
	final boolean isOver() {
		return this.deadline.isOver();
	}

	final Connection connection() {
		return this.connection;
	}

	/** Executes a step and the steps after it. */
	final <T> T run(SqlStep<T> first) throws SQLException {
		SqlStep<T> move = first;
		while (!(move instanceof SqlStep.Done<T> done)) {
			try {
				move = carryOut(move);
			}
			catch (SQLException ex) {
				move = move.failed(this.dialect.classify(ex.getSQLState(), ex.getErrorCode()));
				if (move instanceof SqlStep.Failed) {
					throw ex;
				}
			}
		}
		return done.answer();
	}

	private <T> SqlStep<T> carryOut(SqlStep<T> move) throws SQLException {
		if (move instanceof SqlStep.Query<?, T> query) {
			return query(query);
		}
		if (move instanceof SqlStep.Update<T> update) {
			return update.next().apply(update(update));
		}
		if (move instanceof SqlStep.Transaction<?, T> transaction) {
			return transaction(transaction);
		}
		SqlStep.Pause<T> pause = (SqlStep.Pause<T>) move;
		boolean over = isOver();
		if (!over) {
			pause(pause.attempt());
		}
		return pause.next().apply(over);
	}

	/**
	 * Waits for a random time, because two transactions that have met in a deadlock would
	 * meet again.
	 */
	static void pause(int attempt) {
		long longest = TimeUnit.MILLISECONDS.toNanos(Math.min(attempt, MAX_PAUSE_MILLIS));
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest));
	}

	private <S, T> SqlStep<T> transaction(SqlStep.Transaction<S, T> transaction) throws SQLException {
		S answer;
		try (Transaction open = new Transaction()) {
			answer = run(transaction.work());
			open.commit();
		}
		return transaction.next().apply(answer);
	}

	private <R, T> SqlStep<T> query(SqlStep.Query<R, T> query) throws SQLException {
		LockWait bound = bound(query.sql());
		return query.next().apply(run(bound, query.sql(), Statement.NO_GENERATED_KEYS, (statement) -> {
			execute(bound, statement);
			List<R> read = new ArrayList<>();
			try (ResultSet rows = statement.getResultSet()) {
				Row row = new Row(rows);
				while (rows.next()) {
					read.add(row.read(query.reader()));
				}
			}
			return read;
		}));
	}

	private long update(SqlStep.Update<?> update) throws SQLException {
		LockWait bound = bound(update.sql());
		int keys = update.key() ? Statement.RETURN_GENERATED_KEYS : Statement.NO_GENERATED_KEYS;
		return run(bound, update.sql(), keys, (statement) -> {
			int rows = executeUpdate(bound, statement);
			return (update.key() && rows == 1) ? generatedKey(statement) : update.key() ? 0L : rows;
		});
	}

	private static long generatedKey(PreparedStatement statement) throws SQLException {
		try (ResultSet keys = statement.getGeneratedKeys()) {
			if (!keys.next()) {
				throw new SQLException("The driver returned no generated key");
			}
			return keys.getLong(1);
		}
	}

	private LockWait bound(Sql sql) {
		return sql.bounded() ? this.lockWait : LockWait.NONE;
	}

	/**
	 * Runs an update. It avoids {@code execute()} where it can: before an
	 * {@code execute()} that writes, the MySQL driver queries whether the session may
	 * write, and before an {@code executeUpdate()} it does not.
	 */
	private int executeUpdate(LockWait bound, PreparedStatement statement) throws SQLException {
		if (bound.resultsBefore() == 0) {
			return send(bound, statement::executeUpdate);
		}
		execute(bound, statement);
		return statement.getUpdateCount();
	}

	private void execute(LockWait bound, PreparedStatement statement) throws SQLException {
		send(bound, statement::execute);
		for (int i = 0; i < bound.resultsBefore(); i++) {
			statement.getMoreResults();
		}
	}

	private <T> T run(LockWait bound, Sql sql, int generatedKeys, Outcome<T> outcome) throws SQLException {
		long left = this.deadline.beforeStatement();
		String text = bound.around(sql.text(), left);
		try (PreparedStatement statement = this.connection.prepareStatement(text, generatedKeys)) {
			bind(statement, sql.values());
			T result = outcome.of(statement);
			if (this.commit) {
				this.connection.commit();
			}
			return result;
		}
		catch (SQLException | RuntimeException ex) {
			if (this.commit) {
				rollback(ex);
			}
			throw ex;
		}
	}

	private static void bind(PreparedStatement statement, List<Object> values) throws SQLException {
		int index = 1;
		for (Object value : values) {
			if (value instanceof byte[] bytes) {
				statement.setBytes(index, bytes);
			}
			else if (value instanceof Long number) {
				statement.setLong(index, number);
			}
			else if (value instanceof String text) {
				statement.setString(index, text);
			}
			else {
				statement.setNull(index, (value == String.class) ? Types.VARCHAR : Types.VARBINARY);
			}
			index++;
		}
	}

	private static void execute(Connection connection, @Nullable String sql) throws SQLException {
		if (sql != null) {
			try (Statement statement = connection.createStatement()) {
				statement.execute(sql);
			}
		}
	}

	private void rollback(Exception failure) {
		try {
			this.connection.rollback();
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Undoes a failed statement, but not a statement whose outcome cannot be read. In
	 * that case all the SQL around it ran too, and a rollback to a released savepoint
	 * would abort the transaction.
	 */
	private <T> T send(LockWait bound, Work<T> statement) throws SQLException {
		try {
			return statement.run();
		}
		catch (SQLException ex) {
			try {
				execute(this.connection, bound.undo());
			}
			catch (SQLException suppressed) {
				ex.addSuppressed(suppressed);
			}
			throw ex;
		}
	}

	/**
	 * Several statements that are one transaction: rolled back when it is closed, unless
	 * it was committed before.
	 */
	final class Transaction implements AutoCloseable {

		private final boolean autoCommit;

		private final boolean commitBefore;

		private boolean open = true;

		private Transaction() throws SQLException {
			this.autoCommit = SqlSession.this.connection.getAutoCommit();
			this.commitBefore = SqlSession.this.commit;
			if (this.autoCommit) {
				SqlSession.this.connection.setAutoCommit(false);
			}
			SqlSession.this.commit = false;
		}

		void commit() throws SQLException {
			SqlSession.this.connection.commit();
			this.open = false;
		}

		@Override
		public void close() throws SQLException {
			SqlSession.this.commit = this.commitBefore;
			try {
				if (this.open) {
					SqlSession.this.connection.rollback();
				}
			}
			finally {
				if (this.autoCommit) {
					SqlSession.this.connection.setAutoCommit(true);
				}
			}
		}

	}

	/**
	 * An operation on a session.
	 *
	 * @param <T> the type of the result
	 */
	interface Work<T> {

		T run() throws SQLException;

	}

	/**
	 * Reads the outcome of a statement.
	 *
	 * @param <T> the outcome
	 */
	private interface Outcome<T> {

		T of(PreparedStatement statement) throws SQLException;

	}

	/**
	 * The current row of a cursor. Its reader cannot throw the JDBC exception, so the
	 * exception is wrapped.
	 */
	private static final class Row implements SqlStep.Row {

		private final ResultSet rows;

		Row(ResultSet rows) {
			this.rows = rows;
		}

		<R> R read(Function<SqlStep.Row, R> reader) throws SQLException {
			try {
				return reader.apply(this);
			}
			catch (UnreadColumn ex) {
				throw ex.failure;
			}
		}

		private static <V> V column(Work<V> work) {
			try {
				return work.run();
			}
			catch (SQLException ex) {
				throw new UnreadColumn(ex);
			}
		}

		@Override
		public @Nullable String text(int column) {
			return column(() -> this.rows.getString(column));
		}

		@Override
		public byte @Nullable [] bytes(int column) {
			return column(() -> this.rows.getBytes(column));
		}

		@Override
		public long number(int column) {
			return column(() -> this.rows.getLong(column));
		}

		@Override
		public boolean truth(int column) {
			return column(() -> this.rows.getBoolean(column));
		}

	}

	/** A column that JDBC could not read. */
	private static final class UnreadColumn extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final SQLException failure;

		UnreadColumn(SQLException failure) {
			super(failure);
			this.failure = failure;
		}

	}

	/**
	 * Opens the sessions in which the operations run.
	 */
	interface Source {

		/**
		 * Opens a session.
		 * @param what the name of the operation
		 */
		SqlSession open(String what);

		/**
		 * Opens a session for a claim, which waits for a transaction that has claimed the
		 * key.
		 * @param alone whether the transaction ends if the claim fails or has waited too
		 * long
		 */
		SqlSession openClaim(boolean alone);

		/**
		 * Opens a session for a renewal, which never waits for a connection behind other
		 * operations.
		 */
		default SqlSession openRenewal() {
			return open("renew");
		}

	}

}
