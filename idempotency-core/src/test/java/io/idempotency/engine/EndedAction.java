package io.idempotency.engine;

import java.util.Objects;

import io.idempotency.codec.UnreadableResultException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/** A door whose work is done, and whose ending is given by a test. */
final class EndedAction implements GuardedAction<String> {

	private final CallOutcome ending;

	private @Nullable OwnedClaim claim;

	EndedAction(CallOutcome ending) {
		this.ending = ending;
	}

	OwnedClaim claim() {
		return Objects.requireNonNull(this.claim);
	}

	@Override
	public void acquired(OwnedClaim acquired) {
		this.claim = acquired;
	}

	@Override
	public String run() {
		return "one";
	}

	@Override
	public @Nullable String recover() {
		return null;
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return false;
	}

	@Override
	public String replay(StoredResult result) {
		throw new UnreadableResultException("Another format", new IllegalArgumentException(result.toString()));
	}

	@Override
	public CallOutcome returned(@Nullable Object value, boolean recovered) {
		return this.ending;
	}

	@Override
	public CallOutcome threw(Throwable failure) {
		return this.ending;
	}

}
