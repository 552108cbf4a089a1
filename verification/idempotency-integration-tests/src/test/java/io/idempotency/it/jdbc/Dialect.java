package io.idempotency.it.jdbc;

/**
 * The dialects that the store speaks, and what a call costs there in round trips.
 */
enum Dialect {

	/** In this JVM, where nothing makes a round trip. */
	H2("h2", 0, 0, 0, true),

	/** One statement with everything in it. */
	POSTGRESQL("postgresql", 1, 2, 1, true),

	/** Records that nobody holds are locked before they are renewed. */
	MARIADB("mariadb", 1, 2, 2, true),

	/**
	 * There is no {@code RETURNING}: a duplicate is an insert that fails, and a reading.
	 * A joined claim sets the bound on waiting before, and puts it back after, since no
	 * statement has one of its own.
	 */
	MYSQL("mysql", 2, 4, 2, false);

	private final String vendor;

	private final int duplicate;

	private final int joined;

	private final int renewal;

	private final boolean endsWaitsItself;

	Dialect(String vendor, int duplicate, int joined, int renewal, boolean endsWaitsItself) {
		this.vendor = vendor;
		this.duplicate = duplicate;
		this.joined = joined;
		this.renewal = renewal;
		this.endsWaitsItself = endsWaitsItself;
	}

	/** In the names of its files. */
	String vendor() {
		return this.vendor;
	}

	/** Round trips of a claim whose key is taken. */
	int duplicate() {
		return this.duplicate;
	}

	/** Round trips of a fresh call inside the transaction of its caller. */
	int joined() {
		return this.joined;
	}

	/** Round trips that renew many claims. */
	int renewal() {
		return this.renewal;
	}

	/** Whether a claim that waits for a row ends by a statement's own bound. */
	boolean endsWaitsItself() {
		return this.endsWaitsItself;
	}

}
