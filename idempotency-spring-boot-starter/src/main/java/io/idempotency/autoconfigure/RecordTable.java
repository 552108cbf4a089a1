package io.idempotency.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.autoconfigure.IdempotencyProperties.Jdbc.SchemaInitialization;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.Causes;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.sql.TableSchema;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the table of a SQL store at startup.
 *
 * @hidden
 */
@Internal
public final class RecordTable {

	private static final Logger logger = LoggerFactory.getLogger(RecordTable.class);

	/** An operation name that no guarded method has. */
	private static final String OPERATION = "idempotency.start";

	/** The class of SQL states with which all databases reject a user. */
	private static final String INVALID_AUTHORIZATION = "28";

	/** A short lease, in case the node crashes here. */
	private static final Duration LEASE = Duration.ofSeconds(10);

	private RecordTable() {
	}

	/**
	 * Creates the table if that is configured, checks it, and logs the choice of the
	 * store, and a warning about a missing namespace and about a short lease.
	 * @param over how the store reaches the database, in the log
	 * @param type the type of the bean with the connections
	 * @param connections that bean, in messages
	 * @param prefix the prefix of the properties with the user
	 * @param sqlState returns that of a failure of the driver, {@code null} for any other
	 * @throws IdempotencyConfigurationException if the database is unavailable, or
	 * rejects the user
	 */
	public static void prepare(IdempotencyProperties properties, Namespace namespace, TableSchema schema, String over,
			Class<?> type, String connections, String prefix, Function<Throwable, @Nullable String> sqlState) {
		String login = prefix + ".username and " + prefix + ".password, or the credentials of the "
				+ type.getSimpleName();
		if (!prepare(properties.jdbc().initializeSchema(), schema, connections, login, sqlState)) {
			NamespaceConfiguration.warnOfNone(properties, namespace, "the database");
		}
		LeaseTimeCheck.compare(properties, 2);
		if (properties.store() == StoreType.AUTO) {
			logger.info(
					"Idempotency records are stored in the database{}, table {}: idempotency.store is 'auto', "
							+ "and the application has a {}",
					over, properties.jdbc().tableName(), type.getSimpleName());
		}
	}

	private static boolean prepare(SchemaInitialization when, TableSchema schema, String connections, String login,
			Function<Throwable, @Nullable String> sqlState) {
		try {
			boolean embedded = schema.isEmbedded();
			if (isMade(when, embedded)) {
				schema.create();
			}
			schema.verify();
			return embedded;
		}
		catch (IdempotencyStoreException ex) {
			throw Causes.of(ex)
				.filter((cause) -> String.valueOf(sqlState.apply(cause)).startsWith(INVALID_AUTHORIZATION))
				.findFirst()
				.<RuntimeException>map((rejection) -> new IdempotencyConfigurationException(
						"The database rejected the login of the application: " + rejection.getMessage(),
						"Correct " + login + " for the records.", ex))
				.orElseGet(() -> (ex instanceof StoreNotReachedException) ? new IdempotencyConfigurationException(
						"The database of the idempotency records is unavailable. " + connections + " fails with: "
								+ Causes.root(ex).getMessage(),
						"Start the database, correct the settings of this bean, or set idempotency.store to another store.",
						ex) : ex);
		}
	}

	private static boolean isMade(SchemaInitialization when, boolean embedded) {
		return switch (when) {
			case ALWAYS -> true;
			case EMBEDDED -> embedded;
			case NEVER -> false;
		};
	}

	/**
	 * Returns whether two stores have the same table, so that a claim of one is also a
	 * claim of the other. Writes a record and removes it again.
	 * @throws IdempotencyStoreException if one of them could not be reached
	 */
	public static boolean isShared(IdempotencyStore one, IdempotencyStore other) {
		IdempotencyKey key = new Namespace("").key(OPERATION, Caller.GLOBAL, List.of(UUID.randomUUID().toString()));
		ClaimRequest claim = ClaimRequest.of(key, LEASE, LEASE);
		one.claim(claim);
		try {
			return other.renew(key, claim.claimId(), LEASE);
		}
		finally {
			one.release(key, claim.claimId());
		}
	}

	/**
	 * Checks that two stores have the same table.
	 * @throws IdempotencyConfigurationException if they have not
	 */
	public static void requireShared(IdempotencyStore one, IdempotencyStore other, String problem, String action) {
		try {
			if (!isShared(one, other)) {
				throw new IdempotencyConfigurationException(problem, action);
			}
		}
		catch (IdempotencyStoreException ex) {
			throw new IdempotencyConfigurationException(problem, action, ex);
		}
	}

}
