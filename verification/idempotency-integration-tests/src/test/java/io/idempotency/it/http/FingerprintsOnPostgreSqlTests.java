package io.idempotency.it.http;

@OnPostgreSql
class FingerprintsOnPostgreSqlTests extends FingerprintsOnTomcatTests {

}
