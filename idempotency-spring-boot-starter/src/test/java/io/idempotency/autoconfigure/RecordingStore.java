package io.idempotency.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;

/** A memory store that remembers what was asked of it. */
public class RecordingStore extends ForwardingIdempotencyStore {

	public final List<ClaimRequest> claims = new CopyOnWriteArrayList<>();

	public final List<Completion> completions = new CopyOnWriteArrayList<>();

	public RecordingStore() {
		super(new MemoryIdempotencyStore(1 << 20));
	}

	@Override
	public ClaimResult claim(ClaimRequest request) {
		this.claims.add(request);
		return super.claim(request);
	}

	@Override
	public boolean complete(Completion completion) {
		this.completions.add(completion);
		return super.complete(completion);
	}

	/** A type of its own: it stands for a store of the application. */
	@Override
	public String type() {
		return "recording";
	}

}
