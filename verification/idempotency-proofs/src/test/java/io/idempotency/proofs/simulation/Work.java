package io.idempotency.proofs.simulation;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import io.idempotency.engine.OwnedClaim;
import io.idempotency.engine.ValueAction;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/** The guarded method of one attempt. */
final class Work extends ValueAction<Object> {

	private final World world;

	private final Rules rules;

	private final Attempt attempt;

	Work(World world, Rules rules, Attempt attempt, boolean async) {
		super(new Text(), String.class, async);
		this.world = world;
		this.rules = rules;
		this.attempt = attempt;
	}

	/** Waits for a future in virtual time; another value is returned as it is. */
	static @Nullable Object await(World world, @Nullable Object value) throws Throwable {
		if (!(value instanceof CompletableFuture<?> future)) {
			return value;
		}
		World.Wait wait = world.prepare();
		Object[] result = new Object[1];
		Throwable[] failure = new Throwable[1];
		future.whenComplete((found, thrown) -> {
			result[0] = found;
			failure[0] = thrown;
			world.wake(wait, world.now());
		});
		world.block();
		if (failure[0] != null) {
			throw failure[0];
		}
		return result[0];
	}

	/** Returns whether a failure is the one of the method itself. */
	static boolean isOwn(Throwable failure) {
		return failure instanceof WorkFailed || failure instanceof TimeoutException;
	}

	@Override
	public void acquired(OwnedClaim claim) {
		this.rules.owns(this.attempt);
	}

	@Override
	public @Nullable Object run() throws WorkFailed {
		this.rules.runs(this.attempt);
		Call call = this.attempt.call;
		if (call.work().isAsync()) {
			return later(call);
		}
		this.world.sleep(call.duration() + 1);
		if (call.work() == Call.Work.FAILS || call.work() == Call.Work.FAILS_ONCE && this.attempt.number == 0) {
			this.rules.failed(this.attempt);
			throw new WorkFailed();
		}
		this.rules.succeeded(this.attempt);
		return this.attempt.value();
	}

	private CompletableFuture<String> later(Call call) {
		CompletableFuture<String> future = new CompletableFuture<>();
		long ends = this.world.now() + call.duration() + 2;
		if (call.work() == Call.Work.GIVEN_UP) {
			this.world.at(ends - call.duration() / 2 - 1, this.attempt.node,
					() -> this.world.start(this.attempt.node, null, () -> {
						this.attempt.outOfSight = true;
						future.completeExceptionally(new TimeoutException());
					}));
		}
		// A thread of the application completes the future, and may have to wait.
		this.world.at(ends, this.attempt.node, () -> this.world.start(this.attempt.node, null, () -> {
			if (call.work() == Call.Work.FAILS_LATER) {
				this.rules.failed(this.attempt);
				future.completeExceptionally(new WorkFailed());
				return;
			}
			this.rules.succeeded(this.attempt);
			future.complete(this.attempt.value());
		}));
		return future;
	}

	@Override
	protected @Nullable Object lookUp() {
		return this.rules.found(this.attempt);
	}

	@Override
	public boolean isDuplicate(Throwable failure) {
		return false;
	}

	/** The failure of a guarded method. */
	static final class WorkFailed extends Exception {

		private static final long serialVersionUID = 1L;

	}

	/** Keeps text. */
	private static final class Text implements ResultCodec {

		@Override
		public StoredResult encode(@Nullable Object value, Type type) {
			return new StoredResult("text", ("=" + value).getBytes(StandardCharsets.UTF_8));
		}

		@Override
		public Object decode(StoredResult result, Type type) {
			return new String(result.bytes(), StandardCharsets.UTF_8).substring(1);
		}

		@Override
		public @Nullable String unsupported(Type type) {
			return null;
		}

	}

}
