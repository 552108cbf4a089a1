package io.idempotency.it.message;

import java.util.List;

import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** A Redis for the consumers of one test. */
final class RedisWorkerStore implements WorkerStore {

	private final RedisServer server = RedisServer.start(RedisBinary.REDIS_6_2);

	private final LettuceConnectionFactory connections = connect(this.server.port());

	private static LettuceConnectionFactory connect(int port) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", port);
		connections.afterPropertiesSet();
		connections.start();
		return connections;
	}

	@Override
	public List<String> properties() {
		return List.of("idempotency.store=redis", "spring.data.redis.host=127.0.0.1",
				"spring.data.redis.port=" + this.server.port(), "spring.data.redis.repositories.enabled=false");
	}

	@Override
	public EffectLog effects() {
		return new RedisEffectLog(new StringRedisTemplate(this.connections));
	}

	@Override
	public void close() {
		this.connections.destroy();
		this.server.close();
	}

}
