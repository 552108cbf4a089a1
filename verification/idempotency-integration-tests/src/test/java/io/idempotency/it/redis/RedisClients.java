package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisSentinelServers;
import io.idempotency.it.servers.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.JedisPoolConfig;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

/**
 * Both clients, for each kind of server.
 */
final class RedisClients {

	/** So long that only a test of faults runs into it. */
	static final Duration PATIENT = Duration.ofSeconds(20);

	/** Without the back-off of up to 30 seconds, which would only make tests slow. */
	private static final ClientResources RESOURCES = DefaultClientResources.builder()
		.reconnectDelay(Delay.constant(Duration.ofMillis(50)))
		.build();

	private RedisClients() {
	}

	static LettuceConnectionFactory lettuce(RedisServer server) {
		return lettuce(server.port());
	}

	static LettuceConnectionFactory lettuce(int port) {
		return lettuce(port, PATIENT);
	}

	/** Reads from the replica whatever it takes for a read. */
	static LettuceConnectionFactory lettuce(RedisServer master, RedisServer replica) {
		RedisStaticMasterReplicaConfiguration servers = new RedisStaticMasterReplicaConfiguration("127.0.0.1",
				master.port());
		servers.addNode("127.0.0.1", replica.port());
		return started(new LettuceConnectionFactory(servers,
				LettuceClientConfiguration.builder()
					.commandTimeout(PATIENT)
					.shutdownTimeout(Duration.ZERO)
					.clientResources(RESOURCES)
					.readFrom(ReadFrom.REPLICA)
					.build()));
	}

	/** Gives up soon, and fails at once while it is not connected. */
	static LettuceConnectionFactory impatientLettuce(int port) {
		return lettuce(port, Duration.ofMillis(500));
	}

	static LettuceConnectionFactory lettuce(int port, Duration timeout) {
		return started(new LettuceConnectionFactory(standalone(port), lettuceConfiguration(timeout)));
	}

	/**
	 * As Lettuce is when nobody has tuned it: a command takes a minute, and waits for the
	 * connection to come back.
	 */
	static LettuceConnectionFactory untunedLettuce(int port) {
		return started(new LettuceConnectionFactory(standalone(port),
				LettuceClientConfiguration.builder()
					.shutdownTimeout(Duration.ZERO)
					.clientResources(RESOURCES)
					.build()));
	}

	/** One connection for all, and the application does not share it. */
	static LettuceConnectionFactory pooledLettuce(int port) {
		GenericObjectPoolConfig<StatefulConnection<?, ?>> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(1);
		LettuceConnectionFactory factory = new LettuceConnectionFactory(standalone(port),
				LettucePoolingClientConfiguration.builder()
					.poolConfig(pool)
					.shutdownTimeout(Duration.ZERO)
					.clientResources(RESOURCES)
					.build());
		factory.setShareNativeConnection(false);
		return started(factory);
	}

	static LettuceConnectionFactory lettuce(RedisClusterServers cluster) {
		return started(new LettuceConnectionFactory(configuration(cluster),
				LettuceClientConfiguration.builder()
					.commandTimeout(PATIENT)
					.shutdownTimeout(Duration.ZERO)
					.clientResources(RESOURCES)
					.build()));
	}

	static LettuceConnectionFactory lettuce(RedisSentinelServers set) {
		return lettuce(set, PATIENT);
	}

	static LettuceConnectionFactory lettuce(RedisSentinelServers set, Duration timeout) {
		return started(new LettuceConnectionFactory(configuration(set), lettuceConfiguration(timeout)));
	}

	static JedisConnectionFactory jedis(RedisServer server) {
		return jedis(server.port());
	}

	static JedisConnectionFactory jedis(int port) {
		return started(new JedisConnectionFactory(standalone(port), jedisConfiguration(PATIENT)));
	}

	/** Gives up soon, has one connection, and does not wait for it either. */
	static JedisConnectionFactory impatientJedis(int port) {
		JedisPoolConfig pool = new JedisPoolConfig();
		pool.setMaxTotal(1);
		pool.setMaxWait(Duration.ofMillis(100));
		return started(new JedisConnectionFactory(standalone(port), jedisConfiguration(Duration.ofMillis(500), pool)));
	}

	/** As Jedis is when nobody has tuned it but for one time-out. */
	static JedisConnectionFactory jedis(int port, Duration readTimeout) {
		return started(new JedisConnectionFactory(standalone(port),
				JedisClientConfiguration.builder().readTimeout(readTimeout).usePooling().build()));
	}

	static JedisConnectionFactory jedis(RedisClusterServers cluster) {
		return started(new JedisConnectionFactory(configuration(cluster), jedisConfiguration(PATIENT)));
	}

	static JedisConnectionFactory jedis(RedisSentinelServers set) {
		return started(new JedisConnectionFactory(configuration(set), jedisConfiguration(PATIENT)));
	}

	private static LettuceClientConfiguration lettuceConfiguration(Duration timeout) {
		return LettuceClientConfiguration.builder()
			.commandTimeout(timeout)
			.shutdownTimeout(Duration.ZERO)
			.clientResources(RESOURCES)
			.clientOptions(ClientOptions.builder()
				.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
				.socketOptions(SocketOptions.builder().connectTimeout(timeout).build())
				.timeoutOptions(TimeoutOptions.enabled(timeout))
				.build())
			.build();
	}

	private static JedisClientConfiguration jedisConfiguration(Duration timeout) {
		JedisPoolConfig pool = new JedisPoolConfig();
		pool.setMaxTotal(64);
		pool.setMaxIdle(64);
		return jedisConfiguration(timeout, pool);
	}

	private static JedisClientConfiguration jedisConfiguration(Duration timeout, JedisPoolConfig pool) {
		return JedisClientConfiguration.builder()
			.connectTimeout(timeout)
			.readTimeout(timeout)
			.usePooling()
			.poolConfig(pool)
			.build();
	}

	private static RedisStandaloneConfiguration standalone(int port) {
		return new RedisStandaloneConfiguration("127.0.0.1", port);
	}

	private static RedisClusterConfiguration configuration(RedisClusterServers cluster) {
		return new RedisClusterConfiguration(
				cluster.masters().stream().map((master) -> "127.0.0.1:" + master.port()).toList());
	}

	private static RedisSentinelConfiguration configuration(RedisSentinelServers set) {
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration()
			.master(RedisSentinelServers.MASTER_NAME);
		List<RedisNode> sentinels = set.sentinels()
			.stream()
			.map((sentinel) -> new RedisNode("127.0.0.1", sentinel.port()))
			.collect(Collectors.toList());
		configuration.setSentinels(sentinels);
		return configuration;
	}

	private static LettuceConnectionFactory started(LettuceConnectionFactory factory) {
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static JedisConnectionFactory started(JedisConnectionFactory factory) {
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

}
