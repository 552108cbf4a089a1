package io.idempotency.proofs.simulation;

import java.util.concurrent.TimeoutException;

import io.idempotency.reactor.ReactiveClaim;
import io.idempotency.reactor.ReactiveValueAction;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** The guarded work of one attempt, for which no thread waits. */
final class ReactiveWork extends ReactiveValueAction<Object> {

	private final World world;

	private final Rules rules;

	private final Attempt attempt;

	private boolean subscribed;

	ReactiveWork(World world, Rules rules, Attempt attempt) {
		super(new Work(world, rules, attempt, false));
		this.world = world;
		this.rules = rules;
		this.attempt = attempt;
	}

	@Override
	public void acquired(ReactiveClaim claim) {
		this.rules.owns(this.attempt);
	}

	@Override
	public Mono<Object> recover() {
		return Mono.fromSupplier(() -> this.rules.found(this.attempt));
	}

	@Override
	public Mono<Object> run() {
		return Mono.create(this::run);
	}

	/** What has begun has its effect, also when nobody listens any more. */
	private void run(MonoSink<Object> listener) {
		if (this.subscribed) {
			this.rules.violated(this.attempt + " is subscribed twice");
		}
		this.subscribed = true;
		this.rules.runs(this.attempt);
		Call call = this.attempt.call;
		long ends = this.world.now() + call.duration() + 2;
		listener.onCancel(() -> this.attempt.outOfSight = true);
		if (call.work() == Call.Work.GIVEN_UP) {
			this.world.at(ends - call.duration() / 2 - 1, this.attempt.node, () -> {
				this.attempt.outOfSight = true;
				listener.error(new TimeoutException());
			});
		}
		this.world.at(ends, this.attempt.node, () -> {
			if (call.work() == Call.Work.FAILS || call.work() == Call.Work.FAILS_LATER
					|| call.work() == Call.Work.FAILS_ONCE && this.attempt.number == 0) {
				this.rules.failed(this.attempt);
				listener.error(new Work.WorkFailed());
			}
			else {
				this.rules.succeeded(this.attempt);
				listener.success(this.attempt.value());
			}
		});
	}

}
