package com.example.join

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.util.UUID

import io.idempotency.Idempotent
import io.idempotency.TransactionMode
import io.idempotency.it.servers.Backend
import io.idempotency.it.servers.PostgreSqlBinary
import io.idempotency.it.servers.PostgreSqlServer
import io.idempotency.it.servers.Requires
import io.idempotency.it.servers.SqlDatabase
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.reactor.awaitSingleOrNull
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Nested
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import org.springframework.beans.factory.getBean
import org.springframework.boot.WebApplicationType
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.context.ConfigurableApplicationContext
import org.springframework.context.annotation.Import
import org.springframework.http.HttpStatus
import org.springframework.http.ResponseEntity
import org.springframework.r2dbc.core.DatabaseClient
import org.springframework.transaction.annotation.EnableTransactionManagement
import org.springframework.transaction.annotation.Transactional
import org.springframework.transaction.reactive.TransactionalOperator
import org.springframework.transaction.reactive.executeAndAwait
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.server.ResponseStatusException

/** The work of suspend functions is in the transaction of its record. */
class JoinTests {

	@Nested
	inner class H2 : Scenarios() {

		override fun database() = SqlDatabase("jdbc:h2:mem:${UUID.randomUUID()};DB_CLOSE_DELAY=-1", 0, "sa")

	}

	@Nested
	@Requires(Backend.POSTGRESQL)
	inner class PostgreSql : Scenarios() {

		override fun database(): SqlDatabase = PostgreSqlServer.shared(PostgreSqlBinary.values()[0]).newDatabase()

	}

	@TestInstance(TestInstance.Lifecycle.PER_CLASS)
	abstract class Scenarios {

		lateinit var database: SqlDatabase

		private lateinit var application: ConfigurableApplicationContext

		var key = ""

		abstract fun database(): SqlDatabase

		@BeforeAll
		fun start() {
			this.database = database()
			this.database.jdbc().execute("CREATE TABLE payment (id VARCHAR(64) PRIMARY KEY)")
			val url = this.database.url().replaceFirst("jdbc:h2:mem:", "jdbc:h2:mem:///").substring(5)
			this.application = SpringApplicationBuilder(Application::class.java).web(WebApplicationType.REACTIVE)
				.run(
					"--server.port=0", "--idempotency.store=jdbc", "--idempotency.jdbc.initialize-schema=always",
					"--spring.r2dbc.url=r2dbc:$url", "--spring.r2dbc.username=${this.database.user()}"
				)
		}

		@AfterAll
		fun stop() = this.application.close()

		@BeforeEach
		fun another() {
			this.key = UUID.randomUUID().toString()
		}

		private fun request(path: String): HttpRequest {
			val port = this.application.environment.getProperty("local.server.port")
			return HttpRequest.newBuilder(URI.create("http://127.0.0.1:$port$path/${this.key}"))
				.header("Idempotency-Key", this.key).POST(BodyPublishers.noBody()).build()
		}

		fun post(path: String): HttpResponse<String> =
			HttpClient.newHttpClient().send(request(path), BodyHandlers.ofString())

		private fun replayed(response: HttpResponse<String>) =
			response.headers().firstValue("Idempotent-Replayed").orElse("") == "true"

		private fun runs() =
			this.database.jdbc().queryForObject("SELECT COUNT(*) FROM payment WHERE id = ?", Int::class.java, this.key)

		private fun records() =
			this.database.jdbc().queryForObject("SELECT COUNT(*) FROM idempotency_record", Int::class.java)!!

		@ParameterizedTest
		@ValueSource(strings = ["/pay", "/below", "/operator", "/nothing"])
		fun `an answer is replayed`(path: String) {
			val first = post(path)
			assertThat(first.statusCode()).`as`(first.body()).isEqualTo(200)
			assertThat(replayed(first)).isFalse()
			val second = post(path)
			assertThat(replayed(second)).isTrue()
			assertThat(second.body()).isEqualTo(first.body())
			assertThat(runs()).isEqualTo(1)
		}

		@ParameterizedTest
		@ValueSource(strings = ["/fails", "/fails-below"])
		fun `a failure rolls both back`(path: String) {
			val before = records()
			repeat(2) {
				val answer = post(path)
				assertThat(answer.statusCode()).isEqualTo(500)
				assertThat(replayed(answer)).isFalse()
				assertThat(runs()).isZero()
				assertThat(records()).isEqualTo(before)
			}
		}

		@Test
		fun `a rejection is kept though its work is gone`() {
			repeat(2) {
				val answer = post("/rejects")
				assertThat(answer.statusCode()).isEqualTo(409)
				assertThat(replayed(answer)).isEqualTo(it == 1)
				assertThat(runs()).isZero()
			}
		}

		@Test
		fun `a suspend function of a bean is guarded`() = runBlocking<Unit> {
			val payments = application.getBean<Payments>()
			repeat(2) { assertThat(payments.pay(key)).isEqualTo("paid $key") }
			assertThat(runs()).isEqualTo(1)
		}

		@Test
		fun `a failure of a bean rolls both back`() = runBlocking<Unit> {
			val payments = application.getBean<Payments>()
			val before = records()
			assertThatThrownBy { runBlocking { payments.fail(key) } }.hasMessage("It fails on purpose")
			assertThat(runs()).isZero()
			assertThat(records()).isEqualTo(before)
		}

		@Test
		fun `a flow of a bean is guarded`() = runBlocking<Unit> {
			val payments = application.getBean<Payments>()
			repeat(2) { assertThat(payments.each(key).toList()).containsExactly("paid", key) }
			assertThat(runs()).isEqualTo(1)
		}

	}

	@EnableAutoConfiguration
	@EnableTransactionManagement
	@Import(Handlers::class, Ledger::class, Payments::class)
	open class Application

	@RestController
	open class Handlers(private val ledger: Ledger, private val operator: TransactionalOperator) {

		@PostMapping("/pay/{key}")
		@Idempotent(transaction = TransactionMode.JOIN)
		open suspend fun pay(@PathVariable key: String): String {
			yield()
			this.ledger.pay(key)
			return "paid $key"
		}

		@PostMapping("/below/{key}")
		@Idempotent(transaction = TransactionMode.JOIN)
		open suspend fun below(@PathVariable key: String): String {
			this.ledger.payInTransaction(key)
			return "paid $key"
		}

		@PostMapping("/operator/{key}")
		@Idempotent(transaction = TransactionMode.JOIN)
		open suspend fun operator(@PathVariable key: String): String {
			this.operator.executeAndAwait { this.ledger.pay(key) }
			return "paid $key"
		}

		@PostMapping("/nothing/{key}")
		@Idempotent(transaction = TransactionMode.JOIN)
		open suspend fun nothing(@PathVariable key: String) {
			this.ledger.pay(key)
		}

		@PostMapping("/fails/{key}")
		@Idempotent(transaction = TransactionMode.JOIN)
		open suspend fun fails(@PathVariable key: String): String {
			this.ledger.pay(key)
			throw IllegalStateException("It fails on purpose")
		}

		@PostMapping("/fails-below/{key}")
		@Idempotent(transaction = TransactionMode.JOIN)
		open suspend fun failsBelow(@PathVariable key: String): String {
			this.ledger.payInTransaction(key)
			throw IllegalStateException("It fails on purpose")
		}

		/** Its answer would pass before its work has ended. */
		@PostMapping("/rejects/{key}")
		@Idempotent(transaction = TransactionMode.JOIN)
		open suspend fun rejects(@PathVariable key: String): String {
			this.ledger.pay(key)
			throw ResponseStatusException(HttpStatus.CONFLICT, "sold out")
		}

	}

	data class Paid(val key: String)

	open class Ledger(private val client: DatabaseClient) {

		open suspend fun pay(key: String) {
			this.client.sql("INSERT INTO payment (id) VALUES ('$key')").then().awaitSingleOrNull()
		}

		@Transactional
		open suspend fun payInTransaction(key: String) = pay(key)

	}

	open class Payments(private val ledger: Ledger) {

		@Idempotent(key = "#key", transaction = TransactionMode.JOIN)
		open suspend fun pay(key: String): String {
			yield()
			this.ledger.pay(key)
			return "paid $key"
		}

		@Idempotent(key = "#key", transaction = TransactionMode.JOIN)
		open suspend fun fail(key: String): String {
			this.ledger.payInTransaction(key)
			throw IllegalStateException("It fails on purpose")
		}

		@Idempotent(key = "#key", transaction = TransactionMode.JOIN)
		open fun each(key: String): Flow<String> = flow {
			ledger.pay(key)
			emit("paid")
			emit(key)
		}

	}

}
