package io.idempotency.interceptor;

import java.sql.Connection;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The JDBC connections of the transactions of the current thread, also of those of JPA. A
 * commit that has failed was answered if its connection still answers.
 */
enum BoundConnections {

	/** There is none, or none that is known: applications may lack spring-jdbc. */
	NONE,

	/** All of them answer. */
	ANSWER,

	/** One of them does not. */
	LOST;

	private static final boolean KNOWN = ClassUtils.isPresent("org.springframework.jdbc.datasource.ConnectionHolder",
			BoundConnections.class.getClassLoader());

	/** Asks them all, over the network. */
	static BoundConnections ask() {
		return KNOWN ? Holders.ask() : NONE;
	}

	/** Apart, because its classes may be missing. */
	private static final class Holders {

		/** How long an answer is waited for. */
		private static final int SECONDS = 1;

		static BoundConnections ask() {
			BoundConnections found = NONE;
			for (Object resource : TransactionSynchronizationManager.getResourceMap().values()) {
				if (resource instanceof ConnectionHolder holder) {
					found = ANSWER;
					if (!answers(holder)) {
						return LOST;
					}
				}
			}
			return found;
		}

		private static boolean answers(ConnectionHolder holder) {
			try {
				Connection connection = holder.getConnection();
				return connection.isValid(SECONDS);
			}
			catch (Throwable ex) {
				// Whatever is thrown, the end of the transaction has to be told.
				return false;
			}
		}

	}

}
