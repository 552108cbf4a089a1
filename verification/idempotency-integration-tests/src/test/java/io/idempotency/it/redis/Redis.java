package io.idempotency.it.redis;

import java.time.Duration;
import java.util.function.Supplier;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.containers.ContainerServer;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisSentinelServers;
import io.idempotency.it.servers.RedisServer;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * What the Redis store is tested on: servers of every kind, through both clients. Whoever
 * adds one adds it here, and the classes that are for {@link EachRedis} of its
 * {@link Kind} test it.
 */
enum Redis {

	/** Sends what had no reply once more by itself when it is connected again. */
	LETTUCE(Kind.CLIENT, Client.LETTUCE, () -> RedisServer.start(RedisBinary.REDIS_7_0)),

	/** Fails, so that the engine sends it once more. */
	JEDIS(Kind.CLIENT, Client.JEDIS, () -> RedisServer.start(RedisBinary.REDIS_7_0)),

	/** The oldest. */
	LETTUCE_6_2(Kind.VERSION, Client.LETTUCE, () -> RedisServer.start(RedisBinary.REDIS_6_2)),

	/** As {@link #LETTUCE_6_2}. */
	JEDIS_6_2(Kind.VERSION, Client.JEDIS, () -> RedisServer.start(RedisBinary.REDIS_6_2)),

	/** The newest. */
	LETTUCE_7_4(Kind.VERSION, Client.LETTUCE, () -> RedisServer.start(RedisBinary.REDIS_7_4)),

	/** Three masters. */
	LETTUCE_CLUSTER(Kind.CLUSTER, Client.LETTUCE, () -> RedisClusterServers.start(RedisBinary.REDIS_6_2)),

	/** As {@link #LETTUCE_CLUSTER}. */
	JEDIS_CLUSTER(Kind.CLUSTER, Client.JEDIS, () -> RedisClusterServers.start(RedisBinary.REDIS_7_0)),

	/** A master and a replica that sentinels watch. */
	LETTUCE_SENTINEL(Kind.SENTINEL, Client.LETTUCE, () -> RedisSentinelServers.start(RedisBinary.REDIS_7_0)),

	/** As {@link #LETTUCE_SENTINEL}. */
	JEDIS_SENTINEL(Kind.SENTINEL, Client.JEDIS, () -> RedisSentinelServers.start(RedisBinary.REDIS_6_2)),

	/** The offspring of Redis. */
	LETTUCE_VALKEY(Kind.OFFSPRING, Client.LETTUCE, ContainerServer::valkey);

	private final Kind kind;

	private final Client client;

	private final Supplier<AutoCloseable> servers;

	Redis(Kind kind, Client client, Supplier<AutoCloseable> servers) {
		this.kind = kind;
		this.client = client;
		this.servers = servers;
	}

	Kind kind() {
		return this.kind;
	}

	Client client() {
		return this.client;
	}

	/** What {@link #startServers()} needs. */
	Backend backend() {
		return (this.kind == Kind.OFFSPRING) ? Backend.VALKEY : Backend.REDIS;
	}

	AutoCloseable startServers() {
		return this.servers.get();
	}

	/** Why it is in the list. */
	enum Kind {

		/** A client, with one server. */
		CLIENT,

		/** Another version of the server. */
		VERSION,

		/** A Redis Cluster. */
		CLUSTER,

		/** Servers behind sentinels. */
		SENTINEL,

		/** A server that is no Redis. */
		OFFSPRING

	}

	/** Both clients, for every kind of servers. */
	enum Client {

		/** Lettuce. */
		LETTUCE {

			@Override
			RedisConnectionFactory connect(int port) {
				return RedisClients.lettuce(port);
			}

			@Override
			RedisConnectionFactory connect(int port, Duration patience) {
				return RedisClients.lettuce(port, patience);
			}

			@Override
			RedisConnectionFactory connect(RedisClusterServers servers) {
				return RedisClients.lettuce(servers);
			}

			@Override
			RedisConnectionFactory connect(RedisSentinelServers servers) {
				return RedisClients.lettuce(servers);
			}

		},

		/** Jedis. */
		JEDIS {

			@Override
			RedisConnectionFactory connect(int port) {
				return RedisClients.jedis(port);
			}

			@Override
			RedisConnectionFactory connect(int port, Duration patience) {
				return RedisClients.jedis(port, patience);
			}

			@Override
			RedisConnectionFactory connect(RedisClusterServers servers) {
				return RedisClients.jedis(servers);
			}

			@Override
			RedisConnectionFactory connect(RedisSentinelServers servers) {
				return RedisClients.jedis(servers);
			}

		};

		abstract RedisConnectionFactory connect(int port);

		abstract RedisConnectionFactory connect(int port, Duration patience);

		abstract RedisConnectionFactory connect(RedisClusterServers servers);

		abstract RedisConnectionFactory connect(RedisSentinelServers servers);

		final RedisConnectionFactory connect(AutoCloseable servers) {
			if (servers instanceof RedisServer server) {
				return connect(server.port());
			}
			if (servers instanceof ContainerServer server) {
				return connect(server.port());
			}
			if (servers instanceof RedisClusterServers cluster) {
				return connect(cluster);
			}
			if (servers instanceof RedisSentinelServers sentinel) {
				return connect(sentinel);
			}
			throw new IllegalStateException("No client for " + servers);
		}

	}

}
