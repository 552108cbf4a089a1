package io.idempotency.it.store;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

import io.idempotency.store.Claim;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.test.IdempotencyStoreContract;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * The law of every store, by the clock of a server. Most tests wait for it, so they wait
 * together. There are two storms of threads at a time at most, so that no lease of the
 * others runs out before its time.
 */
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith({ ServerClockContract.FewStormsAtATime.class, ServerClockContract.MachineKeepsPace.class })
public abstract class ServerClockContract extends IdempotencyStoreContract {

	private static final Duration SHORTEST_TICK = Duration.ofMillis(400);

	/** How long the rule of this thread has waited on purpose, in nanoseconds. */
	private final ThreadLocal<Long> waited = ThreadLocal.withInitial(() -> 0L);

	/** How long a lease of the rule of this thread lives. */
	private final ThreadLocal<Duration> tick = ThreadLocal.withInitial(() -> SHORTEST_TICK);

	/** What happens once must not take the time of a lease. */
	protected final void warmUp() {
		for (IdempotencyStore store : List.of(store(), anotherStore())) {
			Claim claim = Requests.acquire(store, Requests.claim());
			store.renew(claim.key(), claim.id(), Requests.LONG);
			store.release(claim.key(), claim.id());
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
		return this.tick.get();
	}

	/**
	 * A rule leaves one {@link #tick()} for everything but its waits. Where the machine
	 * took longer, a lease was over before the rule could look at it: its failure says
	 * nothing of the store, and the rule is tried again with a tick that is twice as
	 * long. Not so a race, whose failure may be one in many.
	 */
	static final class MachineKeepsPace implements InvocationInterceptor {

		private static final int TRIES = 4;

		@Override
		public void interceptTestMethod(Invocation<Void> invocation,
				ReflectiveInvocationContext<Method> invocationContext, ExtensionContext extensionContext)
				throws Throwable {
			ServerClockContract contract = (ServerClockContract) extensionContext.getRequiredTestInstance();
			contract.tick.remove();
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
							|| extensionContext.getTags().contains("race")) {
						throw ex;
					}
					extensionContext.publishReportEntry("tried again, late by ms", Long.toString(late / 1_000_000));
					contract.tick.set(contract.tick().multipliedBy(2));
				}
			}
		}

	}

	/**
	 * Not by JUnit's locks: those of a class template are taken for all of its tests at
	 * once. And not around the test, whose time-out would run while it waits.
	 */
	static final class FewStormsAtATime implements BeforeTestExecutionCallback, AfterTestExecutionCallback {

		private static final Semaphore PERMITS = new Semaphore(2);

		@Override
		public void beforeTestExecution(ExtensionContext context) throws InterruptedException {
			if (context.getTags().contains("storm")) {
				ForkJoinPool.managedBlock(new Permit());
			}
		}

		@Override
		public void afterTestExecution(ExtensionContext context) {
			if (context.getTags().contains("storm")) {
				PERMITS.release();
			}
		}

		/** Lets the pool run other tests while a storm waits for its turn. */
		private static final class Permit implements ForkJoinPool.ManagedBlocker {

			private boolean taken;

			@Override
			public boolean block() throws InterruptedException {
				if (!this.taken) {
					PERMITS.acquire();
					this.taken = true;
				}
				return true;
			}

			@Override
			public boolean isReleasable() {
				this.taken = this.taken || PERMITS.tryAcquire();
				return this.taken;
			}

		}

	}

}
