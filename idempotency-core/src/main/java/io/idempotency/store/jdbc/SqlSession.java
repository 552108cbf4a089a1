package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.OptionalLong;

/**
 * One connection for the time of a verb. On a connection of our own every statement is a
 * transaction, whatever the pool's default for auto-commit is.
 */
final class SqlSession {

	static final Binder NO_PARAMETERS = (statement) -> {
	};

	private final Connection connection;

	private final LockWait lockWait;

	private final boolean joined;

	private final boolean commit;

	private SqlSession(Connection connection, LockWait lockWait, boolean joined) throws SQLException {
		this.connection = connection;
		this.lockWait = lockWait;
		this.joined = joined;
		this.commit = !joined && !connection.getAutoCommit();
	}

	/** On a connection of our own. */
	static SqlSession own(Connection connection) throws SQLException {
		return new SqlSession(connection, LockWait.NONE, false);
	}

	/** On the connection of somebody else's transaction. */
	static SqlSession joined(Connection connection) throws SQLException {
		return new SqlSession(connection, LockWait.NONE, true);
	}

	/** This session with a bound on waiting for locks. */
	SqlSession with(LockWait bound) throws SQLException {
		return new SqlSession(this.connection, bound, this.joined);
	}

	boolean isJoined() {
		return this.joined;
	}

	Connection connection() {
		return this.connection;
	}

	int update(String sql, Binder binder) throws SQLException {
		return run(sql, Statement.NO_GENERATED_KEYS, binder, this::executeUpdate);
	}

	/** Runs a statement that gives rows. */
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
	 * @return the number that the statement gave as the generated key, empty if no row
	 * was changed
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
	 * The driver of MySQL asks the server whether it may write before each
	 * {@code execute()} that does, and never before an {@code executeUpdate()}.
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

	/** Sets the parameters of a statement. */
	interface Binder {

		void bind(PreparedStatement statement) throws SQLException;

	}

	/**
	 * Reads what a statement gave.
	 *
	 * @param <F> what it gave
	 * @param <T> what the reader makes of it
	 */
	interface Reader<F, T> {

		T read(F from) throws SQLException;

	}

}
