package io.idempotency.web;

import java.io.IOException;

import jakarta.servlet.http.HttpServletResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A stored answer, which is written at the place where it was captured. All output that
 * the application and inner filters produce for the call meanwhile is dropped.
 */
final class ReplayedAnswer extends Answer {

	private static final Logger logger = LoggerFactory.getLogger(ReplayedAnswer.class);

	private final StoredResponse stored;

	private final ResponseReplay replay;

	private boolean sent;

	ReplayedAnswer(CapturingResponse response, StoredResponse stored, ResponseReplay replay) {
		super(response);
		this.stored = stored;
		this.replay = replay;
		response.close();
	}

	@Override
	void moveTo(CapturingResponse next) {
		if (!this.sent) {
			response().pass();
			super.moveTo(next);
			next.close();
		}
	}

	@Override
	void finish() throws IOException {
		this.sent = true;
		HttpServletResponse wrapped = response().wrapped();
		if (wrapped.isCommitted()) {
			logger.warn("A stored answer cannot be replayed: something has committed the response before");
			return;
		}
		this.replay.send(this.stored, wrapped);
	}

	@Override
	boolean threw(Throwable thrown) throws IOException {
		if (thrown instanceof Error && !ReplaySignal.isCauseOf(thrown)) {
			return false;
		}
		finish();
		return true;
	}

}
