package io.idempotency.proofs.simulation;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Date;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;

/** One node: a real engine, whose time and threads are simulated. */
final class Node implements Scheduler {

	private final World world;

	private final Chance chance;

	private final int number;

	private final long origin;

	final IdempotencyEngine engine;

	ReactiveIdempotencyEngine reactive;

	final List<long[]> pauses = new ArrayList<>();

	/** When the node died, {@link Long#MAX_VALUE} if it lives. */
	long goneAt = Long.MAX_VALUE;

	/** How many messages have failed since the last reply. */
	private int failures;

	private boolean closing;

	/** Whether no thread can be started for the next task. */
	private boolean rejects;

	/** How many tasks had no thread. */
	private int rejections;

	private long pausedUntil;

	private long randoms;

	Node(World world, Chance chance, int number) {
		this.world = world;
		this.chance = chance;
		this.number = number;
		// The clocks of nodes have nothing in common, and one of them overflows.
		this.origin = (number == 0) ? Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(20) : 1_000_000_007L * number;
		this.engine = new IdempotencyEngine(3, (event, operation) -> {
		}, this, () -> null);
		this.reactive = new ReactiveIdempotencyEngine(this.engine, List.of());
	}

	/** Says how its engine of the calls that must not block reaches the store. */
	void speaks(ReactiveIdempotencyStore store) {
		this.reactive = new ReactiveIdempotencyEngine(this.engine, List.of(store), new EventThreads(this.world, this));
	}

	int number() {
		return this.number;
	}

	boolean isGone() {
		return this.goneAt <= this.world.now();
	}

	long pausedUntil() {
		return this.pausedUntil;
	}

	void pause(long nanos) {
		this.pausedUntil = Math.max(this.pausedUntil, this.world.now() + nanos);
		this.pauses.add(new long[] { this.world.now(), this.pausedUntil });
	}

	void failed() {
		this.failures++;
	}

	void answered() {
		this.failures = 0;
	}

	/** Returns whether its calls may be rejected without asking the store. */
	boolean isCutOff() {
		return this.failures >= 3;
	}

	void rejects() {
		this.rejects = true;
	}

	boolean hasRejected() {
		return this.rejections > 0;
	}

	private void mayReject() {
		if (this.rejects) {
			this.rejects = false;
			this.rejections++;
			throw new RejectedExecutionException("unable to create native thread");
		}
	}

	void dies() {
		this.goneAt = Math.min(this.goneAt, this.world.now());
	}

	/** Closes the engine, as a server does that ends gracefully. */
	void closes() {
		this.closing = true;
		this.engine.close();
	}

	boolean isClosing() {
		return this.closing;
	}

	/** Returns whether the node was paused at any time between two moments. */
	boolean pausedWithin(long from, long until) {
		return this.pauses.stream().anyMatch((pause) -> pause[0] <= until && pause[1] >= from);
	}

	@Override
	public long nanos() {
		return this.origin + this.world.now();
	}

	@Override
	public Timer schedule(Runnable task, Duration delay) {
		if (this.world.isGone()) {
			return () -> {
			};
		}
		World.Event event = this.world.at(this.world.now() + delay.toNanos(), this, task);
		return () -> this.world.cancel(event);
	}

	@Override
	public Executor threads(String name, int most) {
		return new Threads(most);
	}

	@Override
	public Condition condition(Lock lock) {
		return new VirtualCondition(lock);
	}

	@Override
	public double random() {
		return this.chance.of("random", this.number, this.randoms++);
	}

	@Override
	public void close() {
		throw new IllegalStateException("The node ends its scheduler, not the engine");
	}

	/** At most so many tasks at a time; the others wait. */
	private final class Threads implements Executor {

		private final int most;

		private final Deque<Runnable> waiting = new ArrayDeque<>();

		private int busy;

		Threads(int most) {
			this.most = most;
		}

		@Override
		public void execute(Runnable task) {
			if (Node.this.world.isGone()) {
				throw new RejectedExecutionException("gone");
			}
			mayReject();
			this.waiting.add(task);
			if (this.busy < this.most) {
				this.busy++;
				Node.this.world.start(Node.this, null, this::work);
			}
		}

		private void work() {
			for (Runnable task = this.waiting.poll(); task != null; task = this.waiting.poll()) {
				task.run();
			}
			this.busy--;
		}

	}

	/** A condition on which threads wait in virtual time. */
	private final class VirtualCondition implements Condition {

		private final Lock lock;

		private final List<World.Wait> waits = new ArrayList<>();

		VirtualCondition(Lock lock) {
			this.lock = lock;
		}

		@Override
		public long awaitNanos(long nanos) {
			long deadline = Node.this.world.now() + nanos;
			World.Wait wait = Node.this.world.prepare();
			this.waits.add(wait);
			Node.this.world.wake(wait, deadline);
			this.lock.unlock();
			try {
				Node.this.world.block();
			}
			finally {
				this.lock.lock();
				this.waits.remove(wait);
			}
			return deadline - Node.this.world.now();
		}

		@Override
		public void signalAll() {
			this.waits.forEach((wait) -> Node.this.world.wake(wait, Node.this.world.now()));
			this.waits.clear();
		}

		@Override
		public void await() {
			throw new UnsupportedOperationException();
		}

		@Override
		public void awaitUninterruptibly() {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean await(long time, TimeUnit unit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean awaitUntil(@Nullable Date deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void signal() {
			if (!this.waits.isEmpty()) {
				Node.this.world.wake(this.waits.remove(0), Node.this.world.now());
			}
		}

	}

}
