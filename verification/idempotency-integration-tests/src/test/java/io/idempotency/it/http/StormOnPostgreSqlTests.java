package io.idempotency.it.http;

@OnPostgreSql
class StormOnPostgreSqlTests extends StormOnTomcatTests {

}
