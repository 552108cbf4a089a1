package com.example.shop

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.util.UUID
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicInteger

import io.idempotency.IdempotencyEvent
import io.idempotency.IdempotencyListener
import io.idempotency.Idempotent
import io.idempotency.store.IdempotencyStore
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.beans.factory.annotation.Value
import org.springframework.boot.WebApplicationType
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.boot.test.context.TestConfiguration
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Import
import org.springframework.test.context.TestPropertySource
import org.springframework.web.reactive.DispatcherHandler

/** On Spring MVC, and below on WebFlux. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
open class ShopTests @Autowired constructor(
	@Value("\${local.server.port}") port: Int,
	private val refunds: Refunds,
	private val stock: Stock,
	private val events: CopyOnWriteArrayList<IdempotencyEvent>
) {

	private val client = HttpClient.newHttpClient()

	protected val address = "http://127.0.0.1:$port"

	protected fun post(path: String, key: String, body: String = "", to: String = this.address): HttpResponse<String> {
		val request = HttpRequest.newBuilder(URI.create(to + path))
			.header("Idempotency-Key", key)
			.header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString(body))
		return this.client.send(request.build(), BodyHandlers.ofString())
	}

	protected fun replayed(response: HttpResponse<String>) =
		response.headers().firstValue("Idempotent-Replayed").orElse("") == "true"

	@Test
	fun `an order that is sent twice is placed once`() {
		val key = UUID.randomUUID().toString()
		val order = """{"sku":"sku-1","quantity":1}"""
		val first = post("/api/orders", key, order)
		assertThat(first.statusCode()).`as`(first.body()).isEqualTo(201)
		val second = post("/api/orders", key, order)
		assertThat(second.statusCode()).isEqualTo(201)
		assertThat(replayed(second)).isTrue()
		assertThat(second.body()).isEqualTo(first.body())
		assertThat(second.headers().firstValue("Location")).isEqualTo(first.headers().firstValue("Location"))
		val other = post("/api/orders", key, order.replace(":1", ":2"))
		assertThat(other.statusCode()).isEqualTo(422)
	}

	@Test
	fun `a suspend function of a controller is guarded by its argument`() {
		val sku = UUID.randomUUID().toString()
		val first = post("/api/reservations/$sku", "ignored")
		assertThat(first.statusCode()).`as`(first.body()).isEqualTo(200)
		assertThat(first.body()).contains(sku)
		val second = post("/api/reservations/$sku", "ignored too")
		assertThat(replayed(second)).isTrue()
		assertThat(second.body()).isEqualTo(first.body())
		assertThat(replayed(post("/api/reservations/another-$sku", "ignored"))).isFalse()
	}

	@Test
	fun `a flow of a controller runs once`() {
		val key = UUID.randomUUID().toString()
		val first = post("/api/reservations", key, "[\"sku-1\",\"sku-2\"]")
		assertThat(first.statusCode()).`as`(first.body()).isEqualTo(200)
		assertThat(first.body()).contains("sku-1", "sku-2")
		val second = post("/api/reservations", key, "[\"sku-1\",\"sku-2\"]")
		assertThat(replayed(second)).isTrue()
		assertThat(second.body()).isEqualTo(first.body())
		assertThat(post("/api/reservations", key, "[\"sku-1\"]").statusCode()).isEqualTo(422)
	}

	@Test
	fun `a method of a bean is guarded by both of its arguments`() {
		val reference = UUID.randomUUID().toString()
		this.events.clear()
		assertThat(this.refunds.refund(17, reference)).isEqualTo(Refund(17, reference))
		assertThat(this.refunds.refund(17, reference)).isEqualTo(Refund(17, reference))
		assertThat(this.refunds.refund(18, reference)).isEqualTo(Refund(18, reference))
		assertThat(this.events).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED, IdempotencyEvent.EXECUTED)
	}

	@Test
	fun `a suspend function of another bean runs once`() = runBlocking<Unit> {
		val sku = UUID.randomUUID().toString()
		val first = stock.reserve(sku)
		assertThat(stock.reserve(sku)).isEqualTo(first)
		assertThat(stock.reserve("another-$sku")).isNotEqualTo(first)
		assertThatThrownBy { runBlocking { stock.fail(sku) } }.isInstanceOf(IllegalStateException::class.java)
	}

	@Test
	fun `a suspend function without a result runs once`() = runBlocking<Unit> {
		val sku = UUID.randomUUID().toString()
		stock.release(sku)
		val released = stock.runs()
		stock.release(sku)
		assertThat(stock.runs()).isEqualTo(released)
	}

	@Test
	fun `a flow is collected and claimed when it is collected`() = runBlocking<Unit> {
		val sku = UUID.randomUUID().toString()
		val flow = stock.places(sku)
		val first = flow.toList()
		assertThat(first).hasSize(2)
		assertThat(flow.toList()).isEqualTo(first)
		assertThat(stock.places(sku).toList()).isEqualTo(first)
	}

	open class Stock {

		private val runs = AtomicInteger()

		open fun runs() = this.runs.get()

		@Idempotent(key = "#sku")
		open suspend fun reserve(sku: String): Reserved {
			yield()
			return Reserved(sku, this.runs.incrementAndGet())
		}

		@Idempotent(key = "#sku")
		open suspend fun release(sku: String) {
			yield()
			this.runs.incrementAndGet()
		}

		@Idempotent(key = "#sku")
		open suspend fun fail(sku: String): Reserved {
			yield()
			throw IllegalStateException(sku)
		}

		@Idempotent(key = "#sku")
		open fun places(sku: String): Flow<Reserved> = flow {
			emit(Reserved(sku, runs.incrementAndGet()))
			emit(Reserved(sku, runs.incrementAndGet()))
		}

	}

	data class Reserved(val sku: String, val number: Int)

	@TestConfiguration(proxyBeanMethods = false)
	class Listening {

		@Bean
		fun stock() = Stock()

		@Bean
		fun events() = CopyOnWriteArrayList<IdempotencyEvent>()

		@Bean
		fun listener(events: CopyOnWriteArrayList<IdempotencyEvent>) =
			IdempotencyListener { event, _ -> events.add(event) }

	}

}

@Import(ShopTests.Listening::class)
@TestPropertySource(properties = ["spring.main.web-application-type=reactive"])
class ReactiveShopTests @Autowired constructor(
	@Value("\${local.server.port}") port: Int,
	refunds: Refunds,
	stock: Stock,
	events: CopyOnWriteArrayList<IdempotencyEvent>,
	private val store: IdempotencyStore,
	private val webflux: DispatcherHandler
) : ShopTests(port, refunds, stock, events) {

	@Test
	fun `nodes of both stacks share their records`() {
		assertThat(this.webflux.handlerMappings).isNotEmpty()
		val order = """{"sku":"sku-1","quantity":1}"""
		SpringApplicationBuilder(ShopApplication::class.java).web(WebApplicationType.SERVLET)
			.initializers({ it.beanFactory.registerSingleton("store", this.store) })
			.run("--server.port=0").use { mvc ->
				val other = "http://127.0.0.1:" + mvc.environment.getProperty("local.server.port")
				for ((one, two) in listOf(this.address to other, other to this.address)) {
					val key = UUID.randomUUID().toString()
					val first = post("/api/orders", key, order, one)
					val second = post("/api/orders", key, order, two)
					assertThat(replayed(second)).isTrue()
					assertThat(second.body()).isEqualTo(first.body())
				}
			}
	}

}
