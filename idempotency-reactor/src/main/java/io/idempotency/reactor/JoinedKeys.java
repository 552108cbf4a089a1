package io.idempotency.reactor;

import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.key.IdempotencyKey;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The keys whose records are in open transactions of this node. The database would let
 * another call of such a key wait for that transaction, with a connection of the
 * application; here it waits without one. Thread-safe.
 */
final class JoinedKeys {

	private final ConcurrentHashMap<IdempotencyKey, Sinks.Empty<Void>> taken = new ConcurrentHashMap<>();

	/**
	 * Takes a key for a transaction.
	 * @return {@code null} if the key is taken now, to be {@linkplain #free freed} when
	 * the transaction has ended; else completes when it is worth another try
	 */
	@Nullable Mono<Void> take(IdempotencyKey key) {
		Sinks.Empty<Void> other = this.taken.putIfAbsent(key, Sinks.empty());
		return (other != null) ? other.asMono() : null;
	}

	/** Wakes up all that wait for the key. */
	void free(IdempotencyKey key) {
		Sinks.Empty<Void> own = this.taken.remove(key);
		if (own != null) {
			own.tryEmitEmpty();
		}
	}

}
