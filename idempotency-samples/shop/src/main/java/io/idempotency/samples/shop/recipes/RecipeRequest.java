package io.idempotency.samples.shop.recipes;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;

/**
 * An order with the caller's id for it: the same for every attempt, a different one for
 * another order.
 */
record RecipeRequest(@NotBlank @Size(max = 40) String sku, @NotNull @Min(1) @Max(100) Integer quantity,
		@NotNull @Size(min = 1, max = 64) @Pattern(regexp = "[!-~]*",
				message = "must be printable ASCII without spaces") String requestId) {
}
