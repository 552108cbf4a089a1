package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.idempotency.benchmarks.SlowNetwork;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.SqlDatabase;

/**
 * The servers of the stores, and lines to them that take a while. Redis keeps nothing on
 * disk, PostgreSQL runs as it is installed.
 */
final class StoreServers implements AutoCloseable {

	private final List<SlowNetwork> networks = new ArrayList<>();

	private final RedisServer redis = RedisServer.start(RedisBinary.REDIS_7_4);

	private final PostgreSqlServer postgreSql = PostgreSqlServer.startDurable(PostgreSqlBinary.POSTGRESQL_18);

	RedisServer redis() {
		return this.redis;
	}

	/**
	 * Returns the arguments of an application on Redis.
	 * @param networkMillis how long a round trip takes, 0 for the line as it is
	 */
	List<String> redis(int networkMillis) throws IOException {
		int port = (networkMillis == 0) ? this.redis.port() : slow(this.redis.port(), networkMillis);
		return List.of("--idempotency.store=redis", "--spring.data.redis.host=127.0.0.1",
				"--spring.data.redis.port=" + port);
	}

	/** The arguments of an application with a database of its own. */
	List<String> postgreSql(int networkMillis) throws IOException {
		SqlDatabase near = newDatabase();
		SqlDatabase database = (networkMillis == 0) ? near : near.through(slow(near.port(), networkMillis));
		return List.of("--idempotency.store=jdbc", "--idempotency.jdbc.initialize-schema=always",
				"--spring.datasource.url=" + database.url(), "--spring.datasource.username=" + database.user());
	}

	/** The same of an application that reaches it over R2DBC. */
	List<String> r2dbc() {
		SqlDatabase database = newDatabase();
		return List.of("--load.r2dbc="
				+ database.url().replace("jdbc:", "r2dbc:").replace("//", "//" + database.user() + "@"));
	}

	SqlDatabase newDatabase() {
		return this.postgreSql.newDatabase();
	}

	private int slow(int port, int millis) throws IOException {
		SlowNetwork network = SlowNetwork.to(port, TimeUnit.MILLISECONDS.toNanos(millis) / 2);
		this.networks.add(network);
		return network.port();
	}

	@Override
	public void close() throws IOException {
		for (SlowNetwork network : this.networks) {
			network.close();
		}
		this.postgreSql.close();
		this.redis.close();
	}

	@Override
	public String toString() {
		return "Redis " + this.redis.binary().version() + " that keeps nothing on disk, PostgreSQL "
				+ this.postgreSql.binary().version() + " as it is installed (fsync on)";
	}

}
