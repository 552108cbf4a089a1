package io.idempotency.samples.shop;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/**
 * What the form at the checkout asks for; its token is the library's business.
 */
record CheckoutForm(@NotBlank @Size(max = 40) String sku, @NotNull @Min(1) @Max(100) Integer quantity) {
}
