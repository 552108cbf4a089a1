package com.example.shop

import java.net.URI
import java.util.UUID

import io.idempotency.Idempotent
import org.springframework.http.ResponseEntity
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RequestBody
import org.springframework.web.bind.annotation.RestController

@RestController
class OrderController {

	@PostMapping("/api/orders")
	@Idempotent
	suspend fun place(@RequestBody order: NewOrder): ResponseEntity<Order> {
		val placed = Order(UUID.randomUUID(), order.sku, order.quantity)
		return ResponseEntity.created(URI.create("/api/orders/${placed.id}")).body(placed)
	}

}

data class NewOrder(val sku: String, val quantity: Int)

data class Order(val id: UUID, val sku: String, val quantity: Int)
