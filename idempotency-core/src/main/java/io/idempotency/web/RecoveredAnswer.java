package io.idempotency.web;

import java.io.IOException;
import java.util.Set;

/** An answer that is made of a result that was looked up, without a claim to end. */
final class RecoveredAnswer extends Answer {

	private final long maxResponseSize;

	private final ResponseReplay replay;

	private final AmbientHeaders ambient;

	RecoveredAnswer(CapturingResponse response, HttpSettings settings, ResponseReplay replay) {
		super(response);
		this.maxResponseSize = settings.maxResponseSize();
		this.replay = replay;
		this.ambient = new AmbientHeaders(response);
		response.hold(this.maxResponseSize);
	}

	@Override
	void moveTo(CapturingResponse next) {
		if (response().isHeld()) {
			response().pass();
			super.moveTo(next);
			next.hold(this.maxResponseSize);
		}
	}

	@Override
	void finish() throws IOException {
		this.replay.mark(response().changes(this.ambient, Set.of()), response().wrapped());
		response().push();
	}

	@Override
	boolean threw(Throwable thrown) {
		response().close();
		return false;
	}

}
