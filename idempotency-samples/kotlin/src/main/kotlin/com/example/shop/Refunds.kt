package com.example.shop

import io.idempotency.Idempotent
import org.springframework.stereotype.Service

@Service
class Refunds {

	@Idempotent(key = "{#orderId, #reference}", retention = "7d")
	fun refund(orderId: Long, reference: String) = Refund(orderId, reference)

}

data class Refund(val orderId: Long, val reference: String)
