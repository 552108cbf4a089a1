package io.idempotency.it.http;

@OnRedis
class KeysOnRedisTests extends KeysOnTomcatTests {

}
