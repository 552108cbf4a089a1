package io.idempotency.samples.shop;

import java.math.BigDecimal;

import jakarta.validation.constraints.Digits;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;

record PaymentRequest(@NotNull @Positive @Digits(integer = 8, fraction = 2) BigDecimal amount) {
}
