package io.idempotency.it.http;

@OnPostgreSql
class TombstonesOnPostgreSqlTests extends TombstonesOnTomcatTests {

}
