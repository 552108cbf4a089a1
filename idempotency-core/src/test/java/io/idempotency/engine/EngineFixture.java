package io.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.idempotency.AbandonedMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.codec.ResultEncryption;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * One node: an engine on a scripted store, whose records another node may change behind
 * its back.
 */
public final class EngineFixture implements AutoCloseable {

	public static final IdempotencyKey KEY = IdempotencyKey.of(TestPolicy.OPERATION, Caller.GLOBAL, "key-1");

	/** Where the claims of another node come from. */
	static final ClaimOrigin ELSEWHERE = new ClaimOrigin("node-2", "0af7651916cd43dd8448eb211c80319c",
			"b7ad6b7169203331");

	public final MovableClock clock = new MovableClock();

	public final MovableScheduler ticker = new MovableScheduler();

	public final MemoryIdempotencyStore memory = new MemoryIdempotencyStore(16_000_000, this.clock);

	public final ScriptedStore store = new ScriptedStore(this.memory);

	public final RecordedEvents events = new RecordedEvents();

	public final CapturedLog log = new CapturedLog();

	/** What observers of calls and stores see. */
	public final RecordedCalls calls = new RecordedCalls();

	public final IdempotencyEngine engine;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	public EngineFixture() {
		this(100);
	}

	public EngineFixture(int maxWaiters) {
		this(maxWaiters, DetachedCalls.Limits.DEFAULTS, null, null);
	}

	/** Whose own time passes when the test says so. */
	public EngineFixture(ManualScheduler time) {
		this(time, DetachedCalls.Limits.DEFAULTS);
	}

	/** With its own bounds of detached calls. */
	public EngineFixture(ManualScheduler time, DetachedCalls.Limits limits) {
		this(100, limits, time, null);
	}

	/** Whose store is given nothing but encrypted results. */
	public EngineFixture(ResultEncryption encryption) {
		this(100, DetachedCalls.Limits.DEFAULTS, null, encryption);
	}

	private EngineFixture(int maxWaiters, DetachedCalls.Limits limits, @Nullable ManualScheduler time,
			@Nullable ResultEncryption encryption) {
		this.engine = new IdempotencyEngine(maxWaiters, limits, this.events, (time != null) ? time : this.ticker,
				() -> null, encryption, this.calls);
	}

	public <T> @Nullable T execute(TestPolicy policy, GuardedAction<T> door) throws Throwable {
		return execute(policy, Fingerprint.NONE, door);
	}

	public <T> @Nullable T execute(TestPolicy policy, Fingerprint fingerprint, GuardedAction<T> door) throws Throwable {
		return this.engine.execute(new GuardedCall(KEY, fingerprint, policy.build(), this.store), door);
	}

	/** Calls on a thread of its own. */
	public <T> Future<@Nullable T> start(TestPolicy policy, TestAction<T> door) {
		return submit(() -> {
			try {
				return execute(policy, door);
			}
			catch (Exception | Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	public <T> List<Future<@Nullable T>> start(int calls, TestPolicy policy, TestAction<T> door) {
		List<Future<@Nullable T>> futures = new ArrayList<>();
		for (int i = 0; i < calls; i++) {
			futures.add(start(policy, door));
		}
		return futures;
	}

	public <T> Future<T> submit(Callable<T> task) {
		return this.threads.submit(task);
	}

	/** Another node claims the key. */
	public Claim claimElsewhere(TestPolicy policy) {
		ClaimResult result = askElsewhere(policy.build(), Fingerprint.NONE);
		return ((ClaimResult.Acquired) result).claim();
	}

	public Claim claimElsewhere(TestPolicy policy, Fingerprint fingerprint) {
		return ((ClaimResult.Acquired) askElsewhere(policy.build(), fingerprint)).claim();
	}

	/** What another node would be told. */
	public ClaimResult askElsewhere(TestPolicy policy) {
		return askElsewhere(policy.build(), Fingerprint.NONE);
	}

	private ClaimResult askElsewhere(IdempotencyOptions policy, Fingerprint fingerprint) {
		ClaimType type = (policy.mode() == IdempotencyMode.REJECT) ? ClaimType.ONCE : ClaimType.LEASED;
		return this.memory.claim(ClaimRequest.of(KEY, policy.lease(), policy.retention())
			.withFingerprint(fingerprint)
			.withType(type)
			.withTakeOver(policy.recoverable() || policy.onAbandoned() == AbandonedMode.RERUN)
			.withOrigin(ELSEWHERE));
	}

	public boolean completeElsewhere(Claim claim, String value) {
		return this.memory.complete(Completion.result(claim, Fingerprint.NONE, text(value), Duration.ofHours(24)));
	}

	public boolean tombstoneElsewhere(Claim claim) {
		return this.memory.complete(Completion.withoutResult(claim, Fingerprint.NONE, Duration.ofHours(24)));
	}

	public boolean releaseElsewhere(Claim claim) {
		return this.memory.release(claim.key(), claim.id());
	}

	public static StoredResult text(String value) {
		return new StoredResult("text", ("=" + value).getBytes(StandardCharsets.UTF_8));
	}

	@Override
	public void close() {
		this.store.heal();
		this.engine.close();
		this.ticker.close();
		this.threads.shutdownNow();
		this.log.close();
	}

}
