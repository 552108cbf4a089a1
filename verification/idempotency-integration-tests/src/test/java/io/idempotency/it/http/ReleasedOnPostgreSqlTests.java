package io.idempotency.it.http;

@OnPostgreSql
class ReleasedOnPostgreSqlTests extends ReleasedOnTomcatTests {

}
