package io.idempotency.proofs.simulation;

import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** The threads of a node on which nobody may block. */
final class EventThreads implements Scheduler {

	private final World world;

	private final Node node;

	EventThreads(World world, Node node) {
		this.world = world;
		this.node = node;
	}

	@Override
	public Disposable schedule(Runnable task) {
		World.Event event = this.world.at(this.world.now(), this.node, task);
		return () -> this.world.cancel(event);
	}

	@Override
	public Worker createWorker() {
		return new Worker() {

			@Override
			public Disposable schedule(Runnable task) {
				return EventThreads.this.schedule(task);
			}

			@Override
			public void dispose() {
				// It has no thread of its own.
			}

		};
	}

}
