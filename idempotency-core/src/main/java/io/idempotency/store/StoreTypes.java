package io.idempotency.store;

import java.util.Locale;

/** Makes the type of a store from the name of its class. */
final class StoreTypes {

	private StoreTypes() {
	}

	static String of(Class<?> store) {
		// The part of a name after these signs was made at run time.
		String name = store.getSimpleName().split("\\$\\$")[0].replaceFirst("(Idempotency)?Store$", "");
		String type = name.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
		return type.isEmpty() ? "custom" : type;
	}

}
