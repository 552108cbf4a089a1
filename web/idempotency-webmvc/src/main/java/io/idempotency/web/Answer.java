package io.idempotency.web;

import java.io.IOException;
import java.util.Set;

import io.idempotency.http.StoredResponse.AmbientHeaders;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.engine.GuardedAction.GuardSignal;
import io.idempotency.store.Causes;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The answer of a guarded handler, in all dispatches that take part in making it. */
abstract class Answer {

	private BufferingResponse response;

	Answer(BufferingResponse response) {
		this.response = response;
	}

	final BufferingResponse response() {
		return this.response;
	}

	/**
	 * Moves the answer to another wrapper, which is the innermost from now on: in a
	 * forward, or in the rendering of an error.
	 * @param next the other wrapper
	 * @param type the type of the dispatch that makes the answer from now on
	 */
	void moveTo(BufferingResponse next, DispatcherType type) {
		this.response = next;
	}

	/**
	 * Is told that the dispatch that makes the answer has returned, so that the answer is
	 * complete.
	 */
	abstract void finish() throws IOException;

	/**
	 * Is told that the dispatch that makes the answer has thrown.
	 * @param thrown the exception
	 * @return whether there is an answer all the same
	 * @throws IOException if the answer could not be sent
	 */
	abstract boolean threw(Throwable thrown) throws IOException;

	/** Is told that the handler has thrown; an exception handler may make the answer. */
	void failed(Throwable thrown) {
	}

	/**
	 * Is told the result of asynchronous work; the current dispatch makes the answer of
	 * it.
	 * @param result the result of the work, a {@link Throwable} if it has failed
	 */
	void resumed(HttpServletRequest request, @Nullable Object result) {
	}

	/**
	 * Is told that the request is processed asynchronously by code that Spring does not
	 * know.
	 */
	void startedByHand() {
	}

	/**
	 * Is told that the asynchronous answer has ended by a lost connection, or that its
	 * time is over.
	 */
	void answerOver() {
	}

	/** Is told that the asynchronous request is complete, with or without an answer. */
	void asyncCompleted() {
	}

	/** Is told that nothing more will happen to the request. */
	void requestDestroyed() {
	}

	/**
	 * Leaves the handler without running it. The filter then writes the stored answer, or
	 * the answer of the container stands. The signal carries no stack trace.
	 */
	static final class ReplaySignal extends RuntimeException implements GuardSignal {

		private static final long serialVersionUID = 1L;

		ReplaySignal() {
			super("The stored answer is replayed", null, false, false);
		}

		/** Returns whether an exception is the signal or has it as a cause. */
		static boolean isCauseOf(Throwable thrown) {
			// On the way of each replay, which mostly nobody has wrapped.
			return thrown instanceof ReplaySignal || Causes.of(thrown).anyMatch(ReplaySignal.class::isInstance);
		}

	}

	/** An answer that is made of a result that was looked up, without a claim to end. */
	static final class Recovered extends Answer {

		private final HttpSettings settings;

		private final AmbientHeaders ambient;

		Recovered(BufferingResponse response, HttpSettings settings) {
			super(response);
			this.settings = settings;
			this.ambient = new AmbientHeaders(response.getHeaderNames(), response::getHeaders);
			response.hold(settings.maxResponseSize());
		}

		@Override
		void moveTo(BufferingResponse next, DispatcherType type) {
			if (response().isHeld()) {
				response().pass();
				super.moveTo(next, type);
				next.hold(this.settings.maxResponseSize());
			}
		}

		@Override
		void finish() throws IOException {
			new ResponseReplay(this.settings.replayedHeader()).mark(response().changes(this.ambient, Set.of()),
					response().wrapped());
			response().push();
		}

		@Override
		boolean threw(Throwable thrown) {
			response().close();
			return false;
		}

	}

	/**
	 * A stored answer, which is written at the place where it was captured. All output
	 * that the application and inner filters produce for the call meanwhile is dropped.
	 */
	static final class Replayed extends Answer {

		private static final Logger logger = LoggerFactory.getLogger(Answer.class);

		private final StoredResponse stored;

		private final ResponseReplay replay;

		private boolean sent;

		Replayed(BufferingResponse response, StoredResponse stored, ResponseReplay replay) {
			super(response);
			this.stored = stored;
			this.replay = replay;
			response.close();
		}

		@Override
		void moveTo(BufferingResponse next, DispatcherType type) {
			if (!this.sent) {
				response().pass();
				super.moveTo(next, type);
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

}
