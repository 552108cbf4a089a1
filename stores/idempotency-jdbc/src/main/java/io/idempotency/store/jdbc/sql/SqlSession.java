package io.idempotency.store.jdbc.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.OptionalLong;

import io.idempotency.Internal;

/**
 * One connection for the time of a verb. On a connection of our own, every statement is a
 * transaction, even if the pool switches auto-commit off.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class SqlSession {

	static final Binder NO_PARAMETERS = (statement) -> {
	};

	private final Connection connection;

	private final Deadline deadline;

	private final LockWait lockWait;

	private final boolean joined;

	private final boolean commit;

	private SqlSession(Connection connection, Deadline deadline, LockWait lockWait, boolean joined, boolean commit) {
		this.connection = connection;
		this.deadline = deadline;
		this.lockWait = lockWait;
		this.joined = joined;
		this.commit = commit;
	}

	/** Creates a session on a connection of our own. */
	public static SqlSession own(Connection connection, Deadline deadline, LockWait lockWait) throws SQLException {
		return new SqlSession(connection, deadline, lockWait, false, !connection.getAutoCommit());
	}

	/** Creates a session on the connection of the caller's transaction. */
	public static SqlSession joined(Connection connection, Deadline deadline, LockWait lockWait) {
		return new SqlSession(connection, deadline, lockWait, true, false);
	}

	/**
	 * Creates a session that only reads, on the connection of the caller's transaction.
	 */
	public static SqlSession looking(Connection connection, Deadline deadline, LockWait lockWait) {
		return new SqlSession(connection, deadline, lockWait, false, false);
	}

	/** Runs work while the bound on waiting for locks holds. */
	public <T> T bounded(Work<T> work) throws SQLException {
		this.lockWait.begin(this.connection);
		T result;
		try {
			result = work.run();
		}
		catch (SQLException | RuntimeException ex) {
			try {
				this.lockWait.end(this.connection);
			}
			catch (SQLException suppressed) {
				ex.addSuppressed(suppressed);
			}
			throw ex;
		}
		this.lockWait.end(this.connection);
		return result;
	}

	/** Runs statements as one transaction, on a connection of our own. */
	<T> T inTransaction(Reader<SqlSession, T> work) throws SQLException {
		boolean autoCommit = this.connection.getAutoCommit();
		if (autoCommit) {
			this.connection.setAutoCommit(false);
		}
		try {
			T result = work.read(new SqlSession(this.connection, this.deadline, this.lockWait, false, false));
			this.connection.commit();
			this.connection.setAutoCommit(autoCommit);
			return result;
		}
		catch (SQLException ex) {
			try {
				this.connection.rollback();
				this.connection.setAutoCommit(autoCommit);
			}
			catch (SQLException suppressed) {
				ex.addSuppressed(suppressed);
			}
			throw ex;
		}
	}

	/** Returns whether the time is over, so that no statement may begin any more. */
	boolean isOver() {
		return this.deadline.isOver();
	}

	boolean isJoined() {
		return this.joined;
	}

	public Connection connection() {
		return this.connection;
	}

	int update(String sql, Binder binder) throws SQLException {
		return run(sql, Statement.NO_GENERATED_KEYS, binder, this::executeUpdate);
	}

	/** Runs a statement that returns rows. */
	<T> T query(String sql, Binder binder, Reader<ResultSet, T> reader) throws SQLException {
		return run(sql, Statement.NO_GENERATED_KEYS, binder, (statement) -> {
			execute(statement);
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
		return run(sql, Statement.RETURN_GENERATED_KEYS, binder, (statement) -> {
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
			return statement.executeUpdate();
		}
		execute(statement);
		return statement.getUpdateCount();
	}

	private void execute(PreparedStatement statement) throws SQLException {
		statement.execute();
		for (int i = 0; i < this.lockWait.resultsBefore(); i++) {
			statement.getMoreResults();
		}
	}

	private <T> T run(String sql, int generatedKeys, Binder binder, Reader<PreparedStatement, T> work)
			throws SQLException {
		this.deadline.beforeStatement();
		try (PreparedStatement statement = this.connection.prepareStatement(this.lockWait.around(sql), generatedKeys)) {
			binder.bind(statement);
			T result = work.read(statement);
			if (this.commit) {
				this.connection.commit();
			}
			return result;
		}
		catch (SQLException ex) {
			undo(ex);
			throw ex;
		}
	}

	private void undo(SQLException failure) {
		try {
			this.lockWait.undo(this.connection);
			if (this.commit) {
				this.connection.rollback();
			}
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Work on a session.
	 *
	 * @param <T> the result of the work
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
