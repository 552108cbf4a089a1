package io.idempotency.samples.shop;

import java.math.BigDecimal;

import jakarta.validation.constraints.Digits;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.Size;

record RefundRequest(@NotBlank @Size(max = 60) String reference,
		@NotNull @Positive @Digits(integer = 8, fraction = 2) BigDecimal amount) {
}
