package io.idempotency.it.http;

@OnRedis
class FingerprintsOnRedisTests extends FingerprintsOnTomcatTests {

}
