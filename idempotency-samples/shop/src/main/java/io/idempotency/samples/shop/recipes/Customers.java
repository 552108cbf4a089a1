package io.idempotency.samples.shop.recipes;

import java.security.Principal;

import org.jspecify.annotations.Nullable;

/**
 * Determines the customer of a request.
 */
final class Customers {

	private Customers() {
	}

	static String nameOf(@Nullable Principal customer) {
		return (customer != null) ? customer.getName() : "anonymous";
	}

}
