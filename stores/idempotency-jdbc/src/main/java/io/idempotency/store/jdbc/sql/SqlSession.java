package io.idempotency.store.jdbc.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.OptionalLong;

import io.idempotency.Internal;

/**
 * One connection for the time of a verb; closing it gives the connection back. On a
 * connection of our own, every statement is a transaction, even if the pool switches
 * auto-commit off.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public abstract class SqlSession implements AutoCloseable {

	static final Binder NO_PARAMETERS = (statement) -> {
	};

	private final Connection connection;

	private final Deadline deadline;

	private final Dialect dialect;

	private final LockWait lockWait;

	private final boolean joined;

	private boolean commit;

	/**
	 * Opens the session: the bound on waiting for locks holds from now on.
	 * @param connection the connection
	 * @param deadline the end of the verb
	 * @param dialect the dialect of the database
	 * @param lockWait the bound on waiting for locks
	 * @param joined whether the verb is a part of the transaction of the caller, so that
	 * it must see what was committed since that transaction took its snapshot
	 * @param commit whether each statement has to be committed
	 */
	protected SqlSession(Connection connection, Deadline deadline, Dialect dialect, LockWait lockWait, boolean joined,
			boolean commit) throws SQLException {
		this.connection = connection;
		this.deadline = deadline;
		this.dialect = dialect;
		this.lockWait = lockWait;
		this.joined = joined;
		this.commit = commit;
		lockWait.begin(connection);
	}

	/** Runs work, and once more if it has failed without a change and may succeed. */
	public final <T> T run(Work<T> work) {
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
	 * Is called after a verb has failed: returns if it may be run once more, and else
	 * throws the failure of the store.
	 */
	protected abstract void failed(SQLException ex, int attempt);

	/** Gives the connection back. */
	protected abstract void release();

	@Override
	public final void close() {
		try {
			this.lockWait.end(this.connection);
		}
		catch (SQLException ex) {
			failed(ex, Integer.MAX_VALUE);
		}
		finally {
			release();
		}
	}

	/**
	 * Begins a transaction of several statements, on a connection of our own.
	 */
	Transaction begin() throws SQLException {
		return new Transaction();
	}

	public final Dialect dialect() {
		return this.dialect;
	}

	/** Returns the statements for this session. */
	final RecordSql sql() {
		return this.joined ? this.dialect.sql() : this.dialect.alone();
	}

	/** Returns whether the time is over, so that no statement may begin any more. */
	protected final boolean isOver() {
		return this.deadline.isOver();
	}

	protected final boolean isJoined() {
		return this.joined;
	}

	final LockWait lockWait() {
		return this.lockWait;
	}

	public final Connection connection() {
		return this.connection;
	}

	int update(String sql, Binder binder) throws SQLException {
		return run(this.lockWait, sql, Statement.NO_GENERATED_KEYS, binder, this::executeUpdate);
	}

	/** Runs a statement that returns rows. */
	<T> T query(String sql, Binder binder, Reader<ResultSet, T> reader) throws SQLException {
		return query(this.lockWait, sql, binder, reader);
	}

	/** Runs a statement that returns rows, under another bound on its wait. */
	<T> T query(LockWait bound, String sql, Binder binder, Reader<ResultSet, T> reader) throws SQLException {
		return run(bound, sql, Statement.NO_GENERATED_KEYS, binder, (statement) -> {
			execute(bound, statement);
			try (ResultSet rows = statement.getResultSet()) {
				return reader.read(rows);
			}
		});
	}

	/**
	 * Runs an update of at most one row.
	 * @return the number that the statement returned as the generated key, empty if no
	 * row was changed
	 */
	OptionalLong updateAndGetKey(String sql, Binder binder) throws SQLException {
		return run(this.lockWait, sql, Statement.RETURN_GENERATED_KEYS, binder, (statement) -> {
			if (executeUpdate(statement) != 1) {
				return OptionalLong.empty();
			}
			try (ResultSet keys = statement.getGeneratedKeys()) {
				if (!keys.next()) {
					throw new SQLException("The driver gave no generated key");
				}
				return OptionalLong.of(keys.getLong(1));
			}
		});
	}

	/**
	 * Runs an update. It avoids {@code execute()} where it can: before an
	 * {@code execute()} that writes, the driver of MySQL asks the server whether the
	 * session may write, and before an {@code executeUpdate()} it does not ask.
	 */
	private int executeUpdate(PreparedStatement statement) throws SQLException {
		if (this.lockWait.resultsBefore() == 0) {
			return send(this.lockWait, statement::executeUpdate);
		}
		execute(this.lockWait, statement);
		return statement.getUpdateCount();
	}

	private void execute(LockWait bound, PreparedStatement statement) throws SQLException {
		send(bound, statement::execute);
		for (int i = 0; i < bound.resultsBefore(); i++) {
			statement.getMoreResults();
		}
	}

	private <T> T run(LockWait bound, String sql, int generatedKeys, Binder binder, Reader<PreparedStatement, T> work)
			throws SQLException {
		long left = this.deadline.beforeStatement();
		try (PreparedStatement statement = this.connection.prepareStatement(bound.around(sql, left), generatedKeys)) {
			binder.bind(statement);
			T result = work.read(statement);
			if (this.commit) {
				this.connection.commit();
			}
			return result;
		}
		catch (SQLException ex) {
			if (this.commit) {
				rollback(ex);
			}
			throw ex;
		}
	}

	private void rollback(SQLException failure) {
		try {
			this.connection.rollback();
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Undoes a statement that fails, and no statement whose outcome cannot be read: then
	 * all the SQL around it has run, too, and to go back to a savepoint that is gone
	 * would abort the transaction.
	 */
	private <T> T send(LockWait bound, Work<T> statement) throws SQLException {
		try {
			return statement.run();
		}
		catch (SQLException ex) {
			try {
				bound.undo(this.connection);
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
	 * What is done on a session.
	 *
	 * @param <T> the answer
	 */
	public interface Work<T> {

		T run() throws SQLException;

	}

	/** Sets the parameters of a statement. */
	interface Binder {

		void bind(PreparedStatement statement) throws SQLException;

	}

	/**
	 * Reads the outcome of a statement.
	 *
	 * @param <F> the outcome
	 * @param <T> the value that the reader makes of the outcome
	 */
	interface Reader<F, T> {

		T read(F from) throws SQLException;

	}

}
