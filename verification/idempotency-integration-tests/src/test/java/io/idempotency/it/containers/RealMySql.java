package io.idempotency.it.containers;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.it.servers.MySqlServer;
import io.idempotency.it.servers.SqlDatabase;
import org.jspecify.annotations.Nullable;

/**
 * The MySQL of this JVM: the one that {@code -Pmysql} brings, else one in a container.
 */
public final class RealMySql {

	private static final AtomicInteger DATABASES = new AtomicInteger();

	private static @Nullable ContainerServer container;

	private RealMySql() {
	}

	/**
	 * Makes an empty database.
	 * @return the database
	 */
	public static SqlDatabase newDatabase() {
		return MySqlServer.isHere() ? MySqlServer.shared().newDatabase() : newDatabaseInContainer();
	}

	private static synchronized SqlDatabase newDatabaseInContainer() {
		ContainerServer server = container;
		if (server == null) {
			server = ContainerServer.mySql();
			container = server;
		}
		String name = "test" + DATABASES.incrementAndGet();
		server.database("").jdbc().execute("create database " + name);
		return server.database(name);
	}

}
