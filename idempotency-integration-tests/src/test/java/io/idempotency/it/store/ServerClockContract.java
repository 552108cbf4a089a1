package io.idempotency.it.store;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.test.IdempotencyStoreContract;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;

/**
 * The law of every store, by the clock of a server. Most tests wait for it, so they wait
 * together. There are two storms of threads at a time at most, so that no lease of the
 * others runs out before its time.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(providers = ServerClockContract.FewStormsAtATime.class)
@TestInstance(Lifecycle.PER_CLASS)
public abstract class ServerClockContract extends IdempotencyStoreContract {

	/** What happens once must not take the time of a lease. */
	protected final void warmUp() {
		for (IdempotencyStore store : List.of(store(), anotherStore())) {
			IdempotencyKey key = IdempotencyKey.of("warm-up", Caller.GLOBAL, UUID.randomUUID().toString());
			ClaimRequest request = new ClaimRequest(key, ClaimId.random(), Fingerprint.NONE, ClaimType.LEASED,
					Duration.ofMinutes(1), Duration.ofMinutes(1), true);
			store.claim(request);
			store.renew(key, request.claimId(), request.lease());
			store.release(key, request.claimId());
		}
	}

	@Override
	public final void elapse(Duration duration) {
		long until = System.nanoTime() + duration.toNanos();
		long rest = duration.toNanos();
		while (rest > 0) {
			LockSupport.parkNanos(rest);
			rest = until - System.nanoTime();
		}
	}

	@Override
	public final Duration tick() {
		return Duration.ofMillis(400);
	}

	/** Found by the names of the tests. */
	static final class FewStormsAtATime implements ResourceLocksProvider {

		@Override
		public Set<Lock> provideForMethod(List<Class<?>> enclosingInstanceTypes, Class<?> testClass,
				Method testMethod) {
			String name = testMethod.getName();
			boolean storm = name.contains("Storm") || name.contains("OneOfMany") || name.startsWith("nobodyRuns");
			return storm ? Set.of(new Lock("storm-" + Math.floorMod(testClass.hashCode(), 2))) : Set.of();
		}

	}

}
