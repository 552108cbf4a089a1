package io.idempotency.it.message;

import java.util.List;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import org.junit.jupiter.api.AfterEach;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Consumers whose records and effects are in Redis. */
@Requires(Backend.REDIS)
class RedisKafkaProcessTests extends KafkaProcessContract {

	private final RedisServer server = RedisServer.start(RedisBinary.REDIS_6_2);

	private final LettuceConnectionFactory connections = connect(this.server.port());

	private static LettuceConnectionFactory connect(int port) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", port);
		connections.afterPropertiesSet();
		connections.start();
		return connections;
	}

	@AfterEach
	void stop() {
		this.connections.destroy();
		this.server.close();
	}

	@Override
	String topic() {
		return "processes-redis";
	}

	@Override
	List<String> properties() {
		return List.of("idempotency.store=redis", "spring.data.redis.host=127.0.0.1",
				"spring.data.redis.port=" + this.server.port(), "spring.data.redis.repositories.enabled=false");
	}

	@Override
	EffectLog effects() {
		return new RedisEffectLog(new StringRedisTemplate(this.connections));
	}

}
