package io.idempotency.store.nearcache;

import io.idempotency.Internal;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStore.Look;
import io.idempotency.store.record.RecordId;
import org.jspecify.annotations.Nullable;

/**
 * A claim or a look that meets a near cache: what is there, and what is kept of the
 * answer of the store, whoever asks that. It begins before the store is asked, so that a
 * result is never kept longer than the store says. For one call.
 *
 * @hidden
 */
@Internal
public final class NearQuestion {

	private final NearCacheIdempotencyStore cache;

	private final RecordId id;

	private final Fingerprint fingerprint;

	private final long askedAt;

	private final long evictionsBefore;

	private final ClaimResult.@Nullable Completed here;

	NearQuestion(NearCacheIdempotencyStore cache, RecordId id, Fingerprint fingerprint, boolean look) {
		this.cache = cache;
		this.id = id;
		this.fingerprint = fingerprint;
		this.askedAt = cache.now();
		this.evictionsBefore = cache.evictions();
		NearResult near = look ? cache.result(id) : null;
		this.here = (near != null && near.answers(fingerprint, this.askedAt))
				? new ClaimResult.Completed(near.result(), near.rest(this.askedAt), near.origin()) : null;
	}

	/**
	 * Begins the question of a claim, which is no {@link ClaimType#ONCE}.
	 */
	public static NearQuestion ofClaim(NearCacheIdempotencyStore cache, IdempotencyKey key, Fingerprint fingerprint) {
		return cache.ofClaim(key, fingerprint);
	}

	/** Begins the question of a look. */
	public static NearQuestion ofLook(NearCacheIdempotencyStore cache, IdempotencyKey key, Fingerprint fingerprint) {
		return cache.ofLook(key, fingerprint);
	}

	/** Returns the store behind a near cache. */
	public static IdempotencyStore store(NearCacheIdempotencyStore cache) {
		return cache.store();
	}

	/**
	 * Returns how to look in the store for what may then be kept: it is given for as long
	 * as the store says, so that must be right.
	 */
	public static Look behind(Look look) {
		return (look == Look.LOCAL) ? Look.LOCAL : Look.EXACT;
	}

	/** Returns the result, {@code null} if the store has to be asked. */
	public ClaimResult.@Nullable Completed here() {
		return this.here;
	}

	/** Notes the answer of the store. */
	public void answered(ClaimResult answer) {
		if (answer instanceof ClaimResult.Completed completed) {
			this.cache.keep(this, completed);
		}
		else if (!(answer instanceof ClaimResult.Mismatch)) {
			// The record of the cached result is gone.
			this.cache.drop(this.id);
		}
	}

	RecordId id() {
		return this.id;
	}

	Fingerprint fingerprint() {
		return this.fingerprint;
	}

	long askedAt() {
		return this.askedAt;
	}

	long evictionsBefore() {
		return this.evictionsBefore;
	}

}
