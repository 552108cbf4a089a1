package io.idempotency.it.servers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;

/**
 * What some tests need beside this JVM. Only here it is decided what becomes of a test
 * whose backend is not here: it is skipped and says so, or it fails where
 * {@code -Didempotency.tests.required} names the backend.
 * <p>
 * {@link #REDIS}, {@link #POSTGRESQL} and {@link #MARIADB} are required without being
 * named: Maven artifacts bring them, and one that does not come up fails its tests. A
 * name with a minus, {@code -redis}, leaves the tests of a backend out.
 */
public enum Backend {

	/** Brought by a Maven artifact. */
	REDIS,

	/** Brought by a Maven artifact. */
	POSTGRESQL,

	/** Brought by a Maven artifact. */
	MARIADB,

	/** Any real MySQL. {@code -Pmysql} fetches one of half a gigabyte. */
	MYSQL(() -> MySqlServer.isHere() || isDockerHere(), "neither -Pmysql nor Docker is here"),

	/** A real MySQL that a test may kill. */
	MYSQL_PROCESS(MySqlServer::isHere, "-Pmysql is not set"),

	/** The offspring of Redis, in a container. */
	VALKEY(Backend::isDockerHere, "Docker is not here"),

	/** A real RabbitMQ: {@code -Didempotency.tests.rabbit=host:port}. */
	RABBIT(() -> Backend.rabbit() != null, "-Didempotency.tests.rabbit names none"),

	/** A Chromium: {@code -Dchromium=/path/to/it}, or that of the system. */
	BROWSER(() -> Files.isExecutable(Backend.chromium()), "no " + Backend.chromium() + " is here"),

	/**
	 * A Node with the package {@code stripe}, which Maven cannot bring:
	 * {@code npm install --prefix DIR stripe} and
	 * {@code -Didempotency.tests.stripe-node=DIR/node_modules}.
	 */
	STRIPE_NODE(() -> Backend.stripeNode() != null, "-Didempotency.tests.stripe-node names none"),

	/** A Prometheus with its promtool, those of the system. */
	PROMETHEUS(
			() -> Files.isExecutable(Backend.prometheus("prometheus"))
					&& Files.isExecutable(Backend.prometheus("promtool")),
			"no Prometheus and promtool are in /usr/bin");

	private static final String PROPERTY = "idempotency.tests.required";

	private final BooleanSupplier here;

	private final String absence;

	Backend() {
		this(() -> true, "");
	}

	Backend(BooleanSupplier here, String absence) {
		this.here = here;
		this.absence = absence;
	}

	/** Where the browser is, or would be. */
	public static Path chromium() {
		return Path.of(System.getProperty("chromium", "/usr/bin/chromium"));
	}

	/** Where a program of Prometheus is, or would be. */
	static Path prometheus(String program) {
		return Path.of("/usr/bin", program);
	}

	/** Where the real RabbitMQ is, as {@code host:port}, if there is one. */
	public static @Nullable String rabbit() {
		return System.getProperty("idempotency.tests.rabbit");
	}

	/** Where the packages of Node are, if they have the client of Stripe. */
	public static @Nullable String stripeNode() {
		return System.getProperty("idempotency.tests.stripe-node");
	}

	/** Asks Testcontainers, which only the modules have that need it. */
	private static boolean isDockerHere() {
		try {
			Class<?> type = Class.forName("org.testcontainers.DockerClientFactory");
			Object factory = type.getMethod("instance").invoke(null);
			return (boolean) type.getMethod("isDockerAvailable").invoke(factory);
		}
		catch (ReflectiveOperationException ex) {
			return false;
		}
	}

	/**
	 * What becomes of a test that needs it.
	 * @return that it runs or is skipped, and why
	 * @throws IllegalStateException if it must run and cannot
	 */
	public ConditionEvaluationResult evaluate() {
		return evaluate(toString(), this.here, this.absence, System.getProperty(PROPERTY, ""));
	}

	static ConditionEvaluationResult evaluate(String name, BooleanSupplier here, String absence, String required) {
		List<String> names = Arrays.stream(required.split(",")).map(String::trim).filter((n) -> !n.isEmpty()).toList();
		names.forEach(Backend::requireKnown);
		if (names.contains("-" + name)) {
			return ConditionEvaluationResult.disabled("LEFT OUT: -D" + PROPERTY + " says -" + name);
		}
		if (here.getAsBoolean()) {
			return ConditionEvaluationResult.enabled(name + " is here");
		}
		if (names.contains(name)) {
			throw new IllegalStateException("-D" + PROPERTY + " names " + name + ", but " + absence);
		}
		return ConditionEvaluationResult.disabled("LEFT OUT: " + absence);
	}

	private static void requireKnown(String name) {
		if (Arrays.stream(values()).noneMatch((backend) -> name.matches("-?" + backend))) {
			throw new IllegalArgumentException(
					"-D" + PROPERTY + " names '" + name + "', which is none of " + List.of(values()));
		}
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
