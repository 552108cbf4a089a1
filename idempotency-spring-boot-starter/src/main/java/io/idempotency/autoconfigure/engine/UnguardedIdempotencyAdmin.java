package io.idempotency.autoconfigure.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyEviction;
import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.key.Namespace;
import io.idempotency.operators.StoreIdempotencyAdmin;
import org.jspecify.annotations.Nullable;

/**
 * The admin for {@code idempotency.enabled=false}: there are no records.
 */
final class UnguardedIdempotencyAdmin implements IdempotencyAdmin {

	private static final IdempotencyEviction NOTHING = new IdempotencyEviction(0, 0, Duration.ZERO);

	private final Namespace namespace;

	UnguardedIdempotencyAdmin(Namespace namespace) {
		this.namespace = namespace;
	}

	@Override
	public Optional<IdempotencyRecord> find(String operation, IdempotencyCaller caller, Object... key) {
		return Optional.empty();
	}

	@Override
	public Optional<IdempotencyRecord> findById(String operation, String id) {
		return Optional.empty();
	}

	@Override
	public IdempotencyRecordPage list(String operation, @Nullable String cursor, int limit) {
		return new IdempotencyRecordPage(List.of(), null);
	}

	@Override
	public IdempotencyEviction evict(String operation, String id, boolean force) {
		return NOTHING;
	}

	@Override
	public IdempotencyEviction erase(IdempotencyCaller caller, boolean force) {
		return NOTHING;
	}

	@Override
	public String callerId(IdempotencyCaller caller) {
		return StoreIdempotencyAdmin.idOf(caller, this.namespace).toString();
	}

	@Override
	public IdempotencyAdmin store(String name) {
		return this;
	}

}
