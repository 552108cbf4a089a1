package io.idempotency.it.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A MariaDB whose driver says that it is a MySQL 8, for builds without a real one.
 */
final class PretendsToBeMySql extends DelegatingDataSource {

	PretendsToBeMySql(DataSource target) {
		super(target);
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return proxy(Connection.class, connection, "getMetaData",
				proxy(DatabaseMetaData.class, connection.getMetaData(), "getDatabaseProductVersion", "8.4.0"));
	}

	private static <T> T proxy(Class<T> type, T target, String method, Object answer) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (self, called, arguments) -> {
				if (called.getName().equals(method)) {
					return answer;
				}
				try {
					Object result = called.invoke(target, arguments);
					return (called.getName().equals("getDatabaseMajorVersion")) ? 8 : result;
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
			}));
	}

}
