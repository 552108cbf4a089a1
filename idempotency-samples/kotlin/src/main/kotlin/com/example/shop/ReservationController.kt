package com.example.shop

import java.util.UUID

import io.idempotency.Idempotent
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.yield
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RequestBody
import org.springframework.web.bind.annotation.RestController

@RestController
class ReservationController {

	@PostMapping("/api/reservations/{sku}")
	@Idempotent(key = "#sku", retention = "\${reservations.retention:1h}")
	suspend fun reserve(@PathVariable sku: String): Reservation {
		yield()
		return Reservation(UUID.randomUUID(), sku)
	}

	@PostMapping("/api/reservations")
	@Idempotent
	fun reserveAll(@RequestBody skus: List<String>): Flow<Reservation> = flow {
		for (sku in skus) {
			yield()
			emit(Reservation(UUID.randomUUID(), sku))
		}
	}

}

data class Reservation(val id: UUID, val sku: String)
