package com.example.shop

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.util.UUID
import java.util.concurrent.CopyOnWriteArrayList

import io.idempotency.IdempotencyEvent
import io.idempotency.IdempotencyListener
import io.idempotency.Idempotent
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.beans.factory.annotation.Value
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.boot.test.context.TestConfiguration
import org.springframework.context.annotation.Bean

@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class ShopTests @Autowired constructor(
	@Value("\${local.server.port}") port: Int,
	private val refunds: Refunds,
	private val events: CopyOnWriteArrayList<IdempotencyEvent>
) {

	private val client = HttpClient.newHttpClient()

	private val address = "http://127.0.0.1:$port"

	private fun post(path: String, key: String, body: String = ""): HttpResponse<String> {
		val request = HttpRequest.newBuilder(URI.create(this.address + path))
			.header("Idempotency-Key", key)
			.header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString(body))
		return this.client.send(request.build(), BodyHandlers.ofString())
	}

	private fun replayed(response: HttpResponse<String>) =
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
	fun `a method of a bean is guarded by both of its arguments`() {
		val reference = UUID.randomUUID().toString()
		this.events.clear()
		assertThat(this.refunds.refund(17, reference)).isEqualTo(Refund(17, reference))
		assertThat(this.refunds.refund(17, reference)).isEqualTo(Refund(17, reference))
		assertThat(this.refunds.refund(18, reference)).isEqualTo(Refund(18, reference))
		assertThat(this.events).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED, IdempotencyEvent.EXECUTED)
	}

	@Test
	fun `a suspend function of another bean is refused at start-up`() {
		assertThatThrownBy { SpringApplicationBuilder(ShopApplication::class.java, Suspending::class.java).run("--server.port=0").close() }
			.hasStackTraceContaining("Suspending")
			.hasStackTraceContaining("suspend function")
	}

	open class Suspending {

		@Idempotent(key = "#sku")
		open suspend fun reserve(sku: String): String {
			yield()
			return sku
		}

	}

	@TestConfiguration(proxyBeanMethods = false)
	class Listening {

		@Bean
		fun events() = CopyOnWriteArrayList<IdempotencyEvent>()

		@Bean
		fun listener(events: CopyOnWriteArrayList<IdempotencyEvent>) =
			IdempotencyListener { event, _ -> events.add(event) }

	}

}
