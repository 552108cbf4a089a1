package io.idempotency.web;

import java.io.IOException;

import io.idempotency.http.HttpSettings;
import io.idempotency.http.StoredResponse;
import io.idempotency.engine.GuardedAction.GuardSignal;
import io.idempotency.store.Causes;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Handles the response of a guarded handler, in all dispatches that write it. */
abstract class HandledResponse {

	private final HttpSettings settings;

	private BufferingResponse response;

	HandledResponse(BufferingResponse response, HttpSettings settings) {
		this.response = response;
		this.settings = settings;
	}

	final HttpSettings settings() {
		return this.settings;
	}

	final BufferingResponse response() {
		return this.response;
	}

	/**
	 * Continues with the wrapper of another dispatch, which becomes the innermost one.
	 * @param type the type of that dispatch
	 */
	abstract void moveTo(BufferingResponse next, DispatcherType type);

	/** Continues with another wrapper, which buffers all later output. */
	final void continueIn(BufferingResponse next) {
		this.response.pass();
		this.response = next;
		next.hold(this.settings.maxResponseSize());
	}

	/** Completes the response, whose dispatch returned. */
	abstract void finish() throws IOException;

	/**
	 * Completes the response, whose dispatch threw an exception.
	 * @return whether a response was sent, so that the exception is not thrown again
	 * @throws IOException if the response could not be sent
	 */
	abstract boolean threw(Throwable thrown) throws IOException;

	/** Marks the response of a looked-up result as a replay. */
	final void markReplayed() {
		replay().mark(this.response.changes(), this.response.wrapped());
	}

	final ResponseReplay replay() {
		return new ResponseReplay(this.settings.replayedHeader());
	}

	/**
	 * Thrown to leave the handler without running it. The filter then writes the stored
	 * response, or the response of the container remains. The signal has no stack trace.
	 */
	static final class ReplaySignal extends RuntimeException implements GuardSignal {

		private static final long serialVersionUID = 1L;

		ReplaySignal() {
			super("The stored response is replayed", null, false, false);
		}

		/** Returns whether an exception is the signal or has it as a cause. */
		static boolean isCauseOf(Throwable thrown) {
			// In most cases the signal is not wrapped.
			return thrown instanceof ReplaySignal || Causes.of(thrown).anyMatch(ReplaySignal.class::isInstance);
		}

	}

	/** The response of a result that was looked up, without a claim to complete. */
	static final class Recovered extends HandledResponse {

		Recovered(BufferingResponse response, HttpSettings settings) {
			super(response, settings);
			response.hold(settings.maxResponseSize());
		}

		@Override
		void moveTo(BufferingResponse next, DispatcherType type) {
			if (response().isHeld()) {
				next.inherit(response());
				continueIn(next);
			}
		}

		@Override
		void finish() throws IOException {
			markReplayed();
			response().push();
		}

		@Override
		boolean threw(Throwable thrown) {
			response().close();
			return false;
		}

	}

	/**
	 * A stored response, which is written by the filter that buffered it. All other
	 * output of the application and of inner filters is dropped.
	 */
	static final class Replayed extends HandledResponse {

		private static final Logger logger = LoggerFactory.getLogger(HandledResponse.class);

		private final StoredResponse stored;

		private boolean sent;

		Replayed(BufferingResponse response, StoredResponse stored, HttpSettings settings) {
			super(response, settings);
			this.stored = stored;
			response.close();
		}

		@Override
		void moveTo(BufferingResponse next, DispatcherType type) {
			if (!this.sent) {
				continueIn(next);
				next.close();
			}
		}

		@Override
		void finish() throws IOException {
			this.sent = true;
			HttpServletResponse wrapped = response().wrapped();
			if (wrapped.isCommitted()) {
				logger.warn("[IDEM-302] A stored response cannot be replayed, because the current response is "
						+ "already committed: the client receives that response instead. Let filters write to the "
						+ "response after the handler.");
				return;
			}
			replay().send(this.stored, wrapped);
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
