package io.idempotency.it.http;

@OnRedis
class StormOnRedisTests extends StormOnTomcatTests {

}
