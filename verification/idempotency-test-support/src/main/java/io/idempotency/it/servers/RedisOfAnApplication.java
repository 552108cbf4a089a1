package io.idempotency.it.servers;

import java.util.Map;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

/**
 * Starts a Redis before an application: the oldest one supported. It ends with this JVM.
 */
public final class RedisOfAnApplication implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		RedisServer server = RedisServer.start(RedisBinary.REDIS_6_2);
		context.getBeanFactory().registerSingleton("redisServer", server);
		context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("redis", Map.of("spring.data.redis.host", "127.0.0.1",
					"spring.data.redis.port", server.port(), "spring.data.redis.repositories.enabled", false)));
	}

}
