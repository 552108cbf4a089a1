package io.idempotency.it.http;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;

import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * The same scenarios, records in a real Redis. All classes share an application and its
 * server.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Requires(Backend.REDIS)
@ContextConfiguration(initializers = RedisServer.OfAnApplication.class)
@TestPropertySource(properties = "idempotency.store=redis")
@interface OnRedis {

}
