package io.idempotency.reactor;

import io.idempotency.engine.CallOutcome;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Does what another action does. */
class ForwardingAction implements ReactiveAction<String> {

	private final TextAction action;

	ForwardingAction(TextAction action) {
		this.action = action;
	}

	@Override
	public Mono<String> run() {
		return this.action.run();
	}

	@Override
	public @Nullable String replay(StoredResult result) {
		return this.action.replay(result);
	}

	@Override
	public CallOutcome returned(@Nullable String value, boolean recovered) {
		return this.action.returned(value, recovered);
	}

	@Override
	public CallOutcome threw(Throwable failure) {
		return this.action.threw(failure);
	}

}
