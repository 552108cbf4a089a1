package io.idempotency.observation;

import io.idempotency.IdempotencyOutcome;
import io.idempotency.engine.CallObservation;
import io.idempotency.store.ClaimOrigin;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/** The Micrometer observation of one guarded call. */
final class MicrometerCallObservation implements CallObservation {

	private final Observation observation;

	private final IdempotencyObservationContext context;

	private final ObservationRegistry registry;

	private final RunLink link;

	MicrometerCallObservation(Observation observation, IdempotencyObservationContext context,
			ObservationRegistry registry, RunLink link) {
		this.observation = observation;
		this.context = context;
		this.registry = registry;
		this.link = link;
	}

	/**
	 * Makes the observation the current one. If a handler fails, this method leaves the
	 * thread as it was before, because otherwise all later work of the thread would
	 * belong to this call.
	 */
	@Override
	public Scope open() {
		Observation.Scope before = this.registry.getCurrentObservationScope();
		Observation.Scope scope;
		try {
			scope = this.observation.openScope();
		}
		catch (Throwable ex) {
			this.registry.setCurrentObservationScope(before);
			throw ex;
		}
		return () -> {
			try {
				scope.close();
			}
			catch (Throwable ex) {
				this.registry.setCurrentObservationScope(before);
				throw ex;
			}
		};
	}

	@Override
	public void replays(ClaimOrigin first) {
		this.context.first(first);
		this.link.to(first, this.context);
	}

	@Override
	public void ended(IdempotencyOutcome outcome, @Nullable Throwable failure) {
		this.context.outcome(outcome);
		try {
			if (failure != null) {
				this.observation.error(failure);
			}
		}
		finally {
			this.observation.stop();
		}
	}

}
