package com.example.shop

import java.util.UUID
import java.util.concurrent.CopyOnWriteArrayList

import io.idempotency.IdempotencyEvent
import io.idempotency.IdempotencyListener
import io.idempotency.Idempotent
import io.idempotency.it.client.Client
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

	private val client = Client(port)

	@Test
	fun `an order that is sent twice is placed once`() {
		val key = UUID.randomUUID().toString()
		val order = """{"sku":"sku-1","quantity":1}"""
		val first = this.client.post("/api/orders", key, "application/json", order)
		assertThat(first.status()).`as`("%s", first).isEqualTo(201)
		val second = this.client.post("/api/orders", key, "application/json", order)
		assertThat(second.status()).isEqualTo(201)
		assertThat(second.replayed()).isTrue()
		assertThat(second.text()).isEqualTo(first.text())
		assertThat(second.header("Location")).isEqualTo(first.header("Location"))
		val other = this.client.post("/api/orders", key, "application/json", order.replace(":1", ":2"))
		assertThat(other.status()).isEqualTo(422)
	}

	@Test
	fun `a suspend function of a controller is guarded by its argument`() {
		val sku = UUID.randomUUID().toString()
		val first = this.client.post("/api/reservations/$sku", "ignored")
		assertThat(first.status()).`as`("%s", first).isEqualTo(200)
		assertThat(first.text()).contains(sku)
		val second = this.client.post("/api/reservations/$sku", "ignored too")
		assertThat(second.replayed()).isTrue()
		assertThat(second.text()).isEqualTo(first.text())
		assertThat(this.client.post("/api/reservations/another-$sku", "ignored").replayed()).isFalse()
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
