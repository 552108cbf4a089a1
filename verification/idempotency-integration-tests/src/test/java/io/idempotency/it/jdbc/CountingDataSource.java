package io.idempotency.it.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Counts what goes to the database, by whomever. Whatever makes a round trip counts: a
 * commit, a rollback and a savepoint as well as a statement.
 */
final class CountingDataSource extends DelegatingDataSource {

	private final List<String> statements = new CopyOnWriteArrayList<>();

	private final List<String> others = new CopyOnWriteArrayList<>();

	private final AtomicInteger taken = new AtomicInteger();

	private final AtomicInteger held = new AtomicInteger();

	private final AtomicInteger executed = new AtomicInteger();

	CountingDataSource(DataSource target) {
		super(target);
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		this.taken.incrementAndGet();
		this.held.incrementAndGet();
		return proxy(Connection.class, new ConnectionHandler(connection));
	}

	/** How many statements were executed, ever. */
	int executed() {
		return this.executed.get();
	}

	/** How many connections are in somebody's hands now. */
	int held() {
		return this.held.get();
	}

	/**
	 * Counts what one call does while nobody else does anything.
	 * @param call the call
	 * @return what it did
	 */
	Counts countsOf(Runnable call) {
		this.statements.clear();
		this.others.clear();
		this.taken.set(0);
		call.run();
		return new Counts(List.copyOf(this.statements), List.copyOf(this.others), this.taken.get());
	}

	private static <T> T proxy(Class<T> type, InvocationHandler handler) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

	private static @Nullable Object invoke(Object target, Method method, Object @Nullable [] arguments)
			throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/**
	 * What was done.
	 *
	 * @param statements the statements that were executed
	 * @param others what else made a round trip: the names of methods of
	 * {@link Connection}
	 * @param connections how many connections were taken
	 */
	record Counts(List<String> statements, List<String> others, int connections) {
	}

	private final class ConnectionHandler implements InvocationHandler {

		private final Connection target;

		private boolean closed;

		ConnectionHandler(Connection target) {
			this.target = target;
		}

		@Override
		public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
			switch (method.getName()) {
				case "commit", "rollback", "setSavepoint", "releaseSavepoint", "setTransactionIsolation" ->
					CountingDataSource.this.others.add(method.getName());
				case "close" -> close();
				default -> {
					// Makes no round trip.
				}
			}
			Object result = CountingDataSource.invoke(this.target, method, arguments);
			if (result instanceof CallableStatement || !(result instanceof Statement statement)) {
				return result;
			}
			String prepared = (statement instanceof PreparedStatement) ? (String) arguments[0] : null;
			Class<? extends Statement> type = (prepared != null) ? PreparedStatement.class : Statement.class;
			return CountingDataSource.proxy(type, new StatementHandler(statement, prepared));
		}

		private void close() {
			if (!this.closed) {
				this.closed = true;
				CountingDataSource.this.held.decrementAndGet();
			}
		}

	}

	private final class StatementHandler implements InvocationHandler {

		private final Statement target;

		private final @Nullable String prepared;

		StatementHandler(Statement target, @Nullable String prepared) {
			this.target = target;
			this.prepared = prepared;
		}

		@Override
		public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
			if (method.getName().startsWith("execute")) {
				CountingDataSource.this.executed.incrementAndGet();
				String sql = (this.prepared != null) ? this.prepared : String.valueOf(arguments[0]);
				CountingDataSource.this.statements.add(sql);
			}
			return CountingDataSource.invoke(this.target, method, arguments);
		}

	}

}
