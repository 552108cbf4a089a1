package io.idempotency.store.r2dbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.Statement;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Connections to a database that hangs and fails: some statements take longer than any
 * call may, others are none. Notes which methods were called on threads of timers.
 */
final class TroubledConnections implements ConnectionFactory {

	private static final int HANGS = 20;

	private static final int FAILS = 13;

	private final ConnectionFactory real;

	private final String slowStatement;

	private final AtomicInteger statements = new AtomicInteger();

	private final Set<String> onTimers = ConcurrentHashMap.newKeySet();

	TroubledConnections(ConnectionFactory real, String slowStatement) {
		this.real = real;
		this.slowStatement = slowStatement;
	}

	Set<String> onTimers() {
		return this.onTimers;
	}

	@Override
	public Publisher<? extends Connection> create() {
		return Mono.from(this.real.create()).map(this::troubled);
	}

	@Override
	public ConnectionFactoryMetadata getMetadata() {
		return this.real.getMetadata();
	}

	private Connection troubled(Connection connection) {
		return proxy(Connection.class, (method, args) -> {
			if (Thread.currentThread().getName().matches("(parallel|idempotency-r2dbc)-.*")) {
				this.onTimers.add(method.getName());
			}
			if (!method.getName().equals("createStatement")) {
				return method.invoke(connection, args);
			}
			int number = this.statements.incrementAndGet();
			return (number % HANGS == 0) ? withoutValues(connection.createStatement(this.slowStatement))
					: (number % FAILS == 0) ? withoutValues(connection.createStatement("SELECT nothing"))
							: method.invoke(connection, args);
		});
	}

	private static Statement withoutValues(Statement statement) {
		return proxy(Statement.class,
				(method, args) -> method.getName().startsWith("bind") ? statement : method.invoke(statement, args));
	}

	static <T> T proxy(Class<T> type, Call call) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (self, method, args) -> {
				try {
					return call.invoke(method, args);
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

	interface Call {

		Object invoke(Method method, Object[] args) throws ReflectiveOperationException;

	}

}
