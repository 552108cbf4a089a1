package io.idempotency.proofs.linearization;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

import io.idempotency.it.servers.StoreAlone;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * The verbs of the memory store are linearizable: whatever threads do at once, their
 * answers are those of the same verbs one after the other. Lincheck chooses the verbs and
 * the interleavings, and lets one thread run at a time: threads that meet by chance are
 * in {@code MemoryIdempotencyStoreRaceTests}. {@code MemoryIdempotencyStoreTests} says
 * what the answers are.
 */
@StoreAlone
class MemoryIdempotencyStoreLinearizationTests {

	private static final IdempotencyKey KEY = IdempotencyKey.of("pay", Caller.GLOBAL, "key");

	private static final Duration TIME = Duration.ofMinutes(1);

	@Test
	void chosenInterleavingsAreLinearizable() {
		new ModelCheckingOptions().iterations(10)
			.invocationsPerIteration(200)
			.threads(2)
			.actorsPerThread(3)
			.actorsBefore(1)
			.actorsAfter(1)
			.check(Verbs.class);
	}

	/** The verbs of three callers on one key. */
	@Param(name = "caller", gen = IntGen.class, conf = "1:3")
	public static class Verbs {

		private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(1 << 20,
				InstantSource.fixed(Instant.EPOCH));

		@Operation
		public String claim(@Param(name = "caller") int caller) {
			ClaimResult result = this.store.claim(ClaimRequest.of(KEY, TIME, TIME).withClaimId(id(caller)));
			// The fencing token is left out: it may have gaps.
			if (result instanceof ClaimResult.Completed completed) {
				return "completed by " + new String(completed.result().bytes(), 0, 1);
			}
			return result.getClass().getSimpleName();
		}

		@Operation
		public boolean complete(@Param(name = "caller") int caller) {
			return this.store.complete(Completion.result(claimOf(caller), Fingerprint.NONE,
					new StoredResult("text", Integer.toString(caller).getBytes()), TIME));
		}

		@Operation
		public boolean executed(@Param(name = "caller") int caller) {
			return this.store.complete(Completion.executed(claimOf(caller), Fingerprint.NONE, TIME, TIME));
		}

		@Operation
		public boolean forget(@Param(name = "caller") int caller) {
			return this.store.complete(Completion.forget(claimOf(caller), Fingerprint.NONE));
		}

		@Operation
		public boolean release(@Param(name = "caller") int caller) {
			return this.store.release(KEY, id(caller));
		}

		@Operation
		public boolean renew(@Param(name = "caller") int caller) {
			return this.store.renew(KEY, id(caller), TIME);
		}

		@Operation
		public boolean find() {
			return this.store.find(KEY, Fingerprint.NONE).isPresent();
		}

		private static Claim claimOf(int caller) {
			return new Claim(KEY, id(caller), 1, false);
		}

		private static ClaimId id(int caller) {
			return new ClaimId(1, caller);
		}

	}

}
