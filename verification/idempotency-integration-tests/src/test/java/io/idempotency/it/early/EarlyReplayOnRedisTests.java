package io.idempotency.it.early;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;

import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;

/** With results that this node has seen in Redis. */
@Requires(Backend.REDIS)
@ContextConfiguration(initializers = RedisServer.OfAnApplication.class)
@TestPropertySource(properties = "idempotency.store=redis")
class EarlyReplayOnRedisTests extends EarlyReplayContract {

}
