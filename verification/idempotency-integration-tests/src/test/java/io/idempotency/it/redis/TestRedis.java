package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;

import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.store.SharedByTests;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Servers that the tests of one class share. Thread-safe.
 */
final class TestRedis extends SharedByTests {

	private final Redis type;

	TestRedis(Redis type) {
		this.type = type;
	}

	Redis type() {
		return this.type;
	}

	private AutoCloseable servers() {
		return share("servers", this.type::startServers);
	}

	/** Opens connections, which the test closes. */
	RedisConnectionFactory connect() {
		return this.type.client().connect(servers());
	}

	/**
	 * Opens connections, which the test closes.
	 * @param port where the server seems to listen
	 * @return the connections
	 */
	RedisConnectionFactory connect(int port) {
		return this.type.client().connect(port);
	}

	/**
	 * Opens connections that give up sooner, which the test closes.
	 * @param port where the server seems to listen
	 * @param patience when they do
	 * @return the connections
	 */
	RedisConnectionFactory connect(int port, Duration patience) {
		return this.type.client().connect(port, patience);
	}

	/** The only one of kind {@code CLIENT}. */
	RedisServer server() {
		return (RedisServer) servers();
	}

	/** That of kind {@code CLUSTER}. */
	RedisClusterServers cluster() {
		return (RedisClusterServers) servers();
	}

	/** Where records may be. */
	List<RedisServer> masters() {
		return (servers() instanceof RedisServer server) ? List.of(server) : cluster().masters();
	}

}
