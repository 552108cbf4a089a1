package io.idempotency.it.http;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;

import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextConfiguration;

/**
 * The same scenarios, records in a real Redis: the oldest one supported. All classes
 * share an application and its server, which ends with this JVM.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Requires(Backend.REDIS)
@ContextConfiguration(initializers = OnRedis.Server.class)
@interface OnRedis {

	/** Starts the server before the application. */
	final class Server implements ApplicationContextInitializer<ConfigurableApplicationContext> {

		@Override
		public void initialize(ConfigurableApplicationContext context) {
			RedisServer server = RedisServer.start(RedisBinary.REDIS_6_2);
			context.getBeanFactory().registerSingleton("redisServer", server);
			TestPropertyValues
				.of("idempotency.store=redis", "spring.data.redis.host=127.0.0.1",
						"spring.data.redis.port=" + server.port(), "spring.data.redis.repositories.enabled=false")
				.applyTo(context);
		}

	}

}
