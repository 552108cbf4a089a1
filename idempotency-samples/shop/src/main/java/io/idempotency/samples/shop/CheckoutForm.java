package io.idempotency.samples.shop;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/**
 * The fields of the checkout form; the library handles its token.
 */
record CheckoutForm(@NotBlank @Size(max = 40) String sku, @NotNull @Min(1) @Max(100) Integer quantity) {
}
