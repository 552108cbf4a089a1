package io.idempotency.it.servers;

/**
 * A database server of our own. A server that does not come up is an exception, never a
 * skipped test.
 */
public interface SqlServer extends AutoCloseable {

	/**
	 * Makes an empty database.
	 * @return the database
	 */
	SqlDatabase newDatabase();

	/** Where it listens on the loopback interface. */
	int port();

	/** SIGSTOP: it answers nobody until {@link #resume()}. */
	void pause();

	/** SIGCONT. */
	void resume();

	/** SIGKILL to all of its processes: what it has not written is lost. */
	void kill();

	/** Starts it again on the same port and data, after a {@link #kill()}. */
	void restart();

	@Override
	void close();

}
