package io.idempotency.client;

import java.net.URI;
import java.util.UUID;

import io.idempotency.client.IdempotencyKeys.Intent;
import org.jspecify.annotations.Nullable;

/** Finds the key of a request that carries none yet. */
final class RequestKeys {

	private RequestKeys() {
	}

	/**
	 * Finds the key.
	 * @param intent the intent to which the caller has given a key, {@code null} if there
	 * is none
	 * @return the key, {@code null} if the request gets none
	 */
	static @Nullable String of(IdempotentCalls calls, String method, URI uri, @Nullable Intent intent) {
		if (!calls.getKeys(method)) {
			return null;
		}
		// The host does not count, because a caller may go on at another node.
		return (intent != null) ? intent.keyFor(method + " " + uri.getRawPath() + "?" + uri.getRawQuery())
				: UUID.randomUUID().toString();
	}

}
