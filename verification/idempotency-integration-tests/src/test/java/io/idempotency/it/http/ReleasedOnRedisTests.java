package io.idempotency.it.http;

@OnRedis
class ReleasedOnRedisTests extends ReleasedOnTomcatTests {

}
