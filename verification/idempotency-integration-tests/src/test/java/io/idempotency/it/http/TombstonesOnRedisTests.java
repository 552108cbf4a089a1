package io.idempotency.it.http;

@OnRedis
class TombstonesOnRedisTests extends TombstonesOnTomcatTests {

}
