package io.idempotency.reactor;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.key.IdempotencyKey;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The keys whose records are in open transactions of this node, and how many of those are
 * late to begin. The database would let another call of such a key wait for that
 * transaction, with a connection of the application; here it waits without one.
 * Thread-safe.
 */
final class JoinedKeys {

	/** The transactions that nobody waits for any more, and that may yet begin. */
	final AtomicInteger late = new AtomicInteger();

	private final ConcurrentHashMap<IdempotencyKey, Sinks.Empty<Void>> taken = new ConcurrentHashMap<>();

	/**
	 * Takes a key for a transaction.
	 * @param own wakes up all that wait for the key
	 * @return {@code null} if the key is taken now, to be {@linkplain #free freed} when
	 * the transaction has ended; else completes when it is worth another try
	 */
	@Nullable Mono<Void> take(IdempotencyKey key, Sinks.Empty<Void> own) {
		Sinks.Empty<Void> other = this.taken.putIfAbsent(key, own);
		return (other != null) ? other.asMono() : null;
	}

	/** Frees a key, unless that was done before: another call may have it by now. */
	void free(IdempotencyKey key, Sinks.Empty<Void> own) {
		this.taken.remove(key, own);
		own.tryEmitEmpty();
	}

}
