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
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * The law of every store, by the clock of a server. Most tests wait for it, so they wait
 * together. There are two storms of threads at a time at most, so that no lease of the
 * others runs out before its time.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(providers = ServerClockContract.FewStormsAtATime.class)
@TestInstance(Lifecycle.PER_CLASS)
@ExtendWith(ServerClockContract.MachineKeepsPace.class)
public abstract class ServerClockContract extends IdempotencyStoreContract {

	/** How long the rule of this thread has waited on purpose, in nanoseconds. */
	private final ThreadLocal<Long> waited = ThreadLocal.withInitial(() -> 0L);

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
		this.waited.set(this.waited.get() + duration.toNanos());
	}

	@Override
	public final Duration tick() {
		return Duration.ofMillis(400);
	}

	/** Found by the names of the tests. */
	private static boolean isStorm(Method test) {
		String name = test.getName();
		return name.contains("Storm") || name.contains("OneOfMany") || name.startsWith("nobodyRuns");
	}

	private static boolean isRace(Method test) {
		return test.getDeclaringClass().getSimpleName().equals("RaceRules") || isStorm(test);
	}

	/**
	 * A rule leaves one {@link #tick()} for everything but its waits. Where the machine
	 * took longer, a lease was over before the rule could look at it: its failure says
	 * nothing of the store, and the rule is tried again. Not so a race, whose failure may
	 * be one in many.
	 */
	static final class MachineKeepsPace implements InvocationInterceptor {

		private static final int TRIES = 5;

		@Override
		public void interceptTestMethod(Invocation<Void> invocation,
				ReflectiveInvocationContext<Method> invocationContext, ExtensionContext extensionContext)
				throws Throwable {
			ServerClockContract contract = (ServerClockContract) extensionContext.getRequiredTestInstance();
			for (int tries = 1;; tries++) {
				contract.waited.remove();
				long start = System.nanoTime();
				try {
					if (tries == 1) {
						invocation.proceed();
					}
					else {
						ReflectionSupport.invokeMethod(invocationContext.getExecutable(), contract,
								invocationContext.getArguments().toArray());
					}
					return;
				}
				catch (AssertionError ex) {
					long late = System.nanoTime() - start - contract.waited.get();
					if (tries == TRIES || late < contract.tick().toNanos()
							|| isRace(invocationContext.getExecutable())) {
						throw ex;
					}
					extensionContext.publishReportEntry("tried again, late by ms", Long.toString(late / 1_000_000));
				}
			}
		}

	}

	/** Two at a time in all classes. */
	static final class FewStormsAtATime implements ResourceLocksProvider {

		@Override
		public Set<Lock> provideForMethod(List<Class<?>> enclosingInstanceTypes, Class<?> testClass,
				Method testMethod) {
			return isStorm(testMethod) ? Set.of(new Lock("storm-" + Math.floorMod(testClass.hashCode(), 2))) : Set.of();
		}

	}

}
