package io.idempotency.it.http;

@OnPostgreSql
class KeysOnPostgreSqlTests extends KeysOnTomcatTests {

}
