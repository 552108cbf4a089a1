package io.idempotency.it.schemes;

import java.time.Duration;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.store.redis.RedisIdempotencyStore;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

@Nightly
@StoreAlone
@Requires(Backend.REDIS)
@Import(RedisSchemesTests.Store.class)
class RedisSchemesTests extends SchemesTests {

	@Configuration(proxyBeanMethods = false)
	static class Store {

		@Bean
		RedisServer redisServer() {
			return RedisServer.start(RedisBinary.REDIS_7_0);
		}

		@Bean
		LettuceConnectionFactory redisConnectionFactory(RedisServer server) {
			return new LettuceConnectionFactory("127.0.0.1", server.port());
		}

		@Bean
		RedisIdempotencyStore idempotencyStore(LettuceConnectionFactory connections) {
			// A machine that stands still in a storm is no outage.
			return new RedisIdempotencyStore(connections, RedisIdempotencyStore.DEFAULT_KEY_PREFIX,
					Duration.ofMinutes(2));
		}

	}

}
