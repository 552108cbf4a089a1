package io.idempotency.store.nearcache;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.RecordAdmin;
import org.jspecify.annotations.Nullable;

/** Says to claims what it was told to say, and counts what it is asked. */
final class AnsweringStore implements IdempotencyStore {

	static final Instant EXPIRES_AT = Instant.parse("2026-01-01T00:00:00Z");

	private static final Duration LEASE = Duration.ofMinutes(1);

	private final Deque<Runnable> delays = new ArrayDeque<>();

	private @Nullable ClaimResult answer;

	@Nullable IdempotencyStore joining;

	@Nullable RecordAdmin admin;

	int calls;

	void answer(@Nullable ClaimResult answer) {
		this.answer = answer;
	}

	/** What happens before the next answer arrives. */
	void delay(Runnable delay) {
		this.delays.add(delay);
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		this.calls++;
		Objects.requireNonNullElse(this.delays.poll(), () -> {
		}).run();
		if (this.answer == null) {
			throw new IdempotencyStoreException("down");
		}
		return this.answer;
	}

	@Override
	public Optional<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint, Look look) {
		return (look == Look.LOCAL) ? Optional.empty()
				: Optional.of(claim(ClaimRequest.of(key, LEASE, LEASE)))
					.filter(ClaimResult.Completed.class::isInstance)
					.map(ClaimResult.Completed.class::cast);
	}

	@Override
	public boolean complete(Completion completion) {
		this.calls++;
		return true;
	}

	@Override
	public boolean release(IdempotencyKey key, ClaimId claimId) {
		this.calls++;
		return true;
	}

	@Override
	public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		this.calls++;
		return true;
	}

	@Override
	public Instant issue(IdempotencyKey token, Duration timeToLive) {
		this.calls++;
		return EXPIRES_AT;
	}

	@Override
	public Optional<IdempotencyStore> joining() {
		return Optional.ofNullable(this.joining);
	}

	@Override
	public Optional<RecordAdmin> admin() {
		return Optional.ofNullable(this.admin);
	}

}
