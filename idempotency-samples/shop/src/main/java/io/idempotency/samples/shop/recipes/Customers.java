package io.idempotency.samples.shop.recipes;

import java.security.Principal;

import org.jspecify.annotations.Nullable;

/**
 * Says who is asking.
 */
final class Customers {

	private Customers() {
	}

	static String nameOf(@Nullable Principal customer) {
		return (customer != null) ? customer.getName() : "anonymous";
	}

}
