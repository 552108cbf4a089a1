package io.idempotency.proofs.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;

import org.jspecify.annotations.Nullable;

/**
 * Virtual time, and the order in which everything happens. The code of the engine blocks
 * as usual, on threads of its own, but only one of these threads runs at a time: a thread
 * that blocks takes the next event from the queue, and hands over to the thread that the
 * event wakes up. Time passes from one event to the next.
 */
final class World {

	/** A usual world has some hundred events; one with more than these never ends. */
	private static final long MOST_STEPS = 200_000;

	private final PriorityQueue<Event> queue = new PriorityQueue<>(
			Comparator.comparingLong(Event::at).thenComparingLong(Event::ordinal));

	private final List<Fiber> fibers = new ArrayList<>();

	private final Fiber main = new Fiber(null, null, null);

	private final long end;

	private @Nullable Fiber current;

	private long now;

	private long ordinals;

	private long steps;

	private boolean over;

	private @Nullable Throwable failure;

	World(long end) {
		this.end = end;
		this.main.thread = Thread.currentThread();
	}

	long now() {
		return this.now;
	}

	/** Returns the number of events that have happened. */
	long steps() {
		return this.steps;
	}

	/** Returns whether the running thread belongs to a node that is gone. */
	boolean isGone() {
		Fiber fiber = this.current;
		return this.over || fiber != null && fiber.node != null && fiber.node.isGone();
	}

	@Nullable Attempt attempt() {
		return (this.current != null) ? this.current.attempt : null;
	}

	/** Plans a task that never blocks; a node that is paused does it later. */
	Event at(long time, @Nullable Node node, Runnable task) {
		Event event = new Event(Math.max(time, this.now), this.ordinals++, node, null, 0, task);
		this.queue.add(event);
		return event;
	}

	void cancel(Event event) {
		this.queue.remove(event);
	}

	/** Starts a task that may block, on a thread of its own. */
	void start(@Nullable Node node, @Nullable Attempt attempt, Runnable task) {
		Fiber fiber = new Fiber(node, attempt, task);
		this.fibers.add(fiber);
		this.queue.add(new Event(this.now, this.ordinals++, node, fiber, 0, null));
	}

	/** Returns the running thread, which has to call {@link #block} next. */
	Wait prepare() {
		Fiber fiber = this.current;
		if (fiber == null) {
			throw new AssertionError("A timer task blocks, and all timers of its node with it");
		}
		if (isGone()) {
			throw new Gone();
		}
		return new Wait(fiber, ++fiber.waits);
	}

	void wake(Wait wait, long time) {
		this.queue
			.add(new Event(Math.max(time, this.now), this.ordinals++, wait.fiber.node, wait.fiber, wait.number, null));
	}

	/** Waits until somebody wakes up the running thread. */
	void block() {
		Fiber self = this.current;
		if (self == null) {
			throw new AssertionError("Only a thread of this world can wait in it");
		}
		drive(self);
		if (isGone()) {
			throw new Gone();
		}
	}

	void sleep(long nanos) {
		wake(prepare(), this.now + nanos);
		block();
	}

	/** Lets everything happen, and returns when nothing is left to happen. */
	void run() {
		drive(this.main);
	}

	/** Returns whether a thread of a node that is alive waits for ever. */
	boolean isStuck() {
		return this.fibers.stream().anyMatch((fiber) -> !fiber.done && fiber.node != null && !fiber.node.isGone());
	}

	/** Returns whether something was still to happen when the time was over. */
	boolean isBusy() {
		return this.queue.stream().anyMatch((event) -> event.node == null || !event.node.isGone());
	}

	/** Ends all threads, by an error wherever they wait. */
	void dispose() {
		this.over = true;
		for (Fiber fiber : new ArrayList<>(this.fibers)) {
			if (fiber.thread != null && !fiber.done) {
				this.current = fiber;
				fiber.resume();
				this.main.park();
			}
		}
		this.current = null;
	}

	/** Lets events happen until one of them resumes the given thread. */
	private void drive(Fiber self) {
		Fiber next = next();
		if (next == self) {
			return;
		}
		resume(next);
		self.park();
	}

	private void resume(Fiber fiber) {
		if (fiber.thread == null) {
			Pool.run(() -> live(fiber), fiber);
		}
		else {
			fiber.resume();
		}
	}

	private void live(Fiber fiber) {
		Fiber lives = fiber;
		while (true) {
			lives.thread = Thread.currentThread();
			try {
				((Runnable) Objects.requireNonNull(lives.task)).run();
			}
			catch (Throwable ex) {
				// A thread whose node is gone ends by an error, and nobody wants to know.
				if (!(ex instanceof Gone) && this.failure == null) {
					this.failure = ex;
				}
			}
			lives.done = true;
			if (this.over) {
				this.main.resume();
				return;
			}
			this.fibers.remove(lives);
			Fiber next = next();
			if (next.thread != null) {
				next.resume();
				return;
			}
			// A thread that has ended can be the next one: no hand-over is needed.
			lives = next;
		}
	}

	private Fiber next() {
		while (true) {
			Event event = this.queue.peek();
			if (event == null || event.at > this.end || this.steps > MOST_STEPS) {
				this.current = null;
				return this.main;
			}
			this.queue.poll();
			this.now = Math.max(this.now, event.at);
			Node node = event.node;
			if (node != null && node.isGone()) {
				continue;
			}
			if (node != null && node.pausedUntil() > this.now) {
				this.queue
					.add(new Event(node.pausedUntil(), this.ordinals++, node, event.fiber, event.turn, event.task));
				continue;
			}
			this.steps++;
			Fiber fiber = event.fiber;
			if (fiber == null) {
				this.current = null;
				((Runnable) Objects.requireNonNull(event.task)).run();
			}
			else if (fiber.waits == event.turn && !fiber.done) {
				fiber.waits++;
				this.current = fiber;
				return fiber;
			}
		}
	}

	/** Returns what a thread of this world has thrown and must not throw. */
	@Nullable Throwable failure() {
		return this.failure;
	}

	/** Something that happens at a time. */
	record Event(long at, long ordinal, @Nullable Node node, @Nullable Fiber fiber, long turn,
			@Nullable Runnable task) {

		@Override
		public boolean equals(@Nullable Object other) {
			return this == other;
		}

		@Override
		public int hashCode() {
			return Long.hashCode(this.ordinal);
		}

	}

	/** One wait of a thread. */
	record Wait(Fiber fiber, long number) {
	}

	/** Ends a thread whose node is gone. */
	static final class Gone extends Error {

		private static final long serialVersionUID = 1L;

		Gone() {
			super("gone", null, false, false);
		}

	}

	/** A thread of the world. */
	static final class Fiber extends Baton {

		private final @Nullable Node node;

		private final @Nullable Attempt attempt;

		private final @Nullable Runnable task;

		private long waits;

		private boolean done;

		Fiber(@Nullable Node node, @Nullable Attempt attempt, @Nullable Runnable task) {
			this.node = node;
			this.attempt = attempt;
			this.task = task;
		}

	}

}
