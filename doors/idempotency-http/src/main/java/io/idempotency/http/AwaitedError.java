package io.idempotency.http;

import java.time.Duration;
import java.util.function.Consumer;

import io.idempotency.Internal;
import io.idempotency.engine.IdempotencyEngine;
import org.jspecify.annotations.Nullable;

/**
 * An error that is the answer of a call and that the container has yet to render, in
 * another dispatch: the bytes of that dispatch are the answer.
 *
 * @hidden
 */
@Internal
public final class AwaitedError {

	/**
	 * How long the rendering of an error is awaited after the end of the request. Jetty,
	 * and Tomcat for an asynchronous request, report the end of a request before they
	 * render its error. If nothing renders errors, the error itself is kept after this
	 * delay.
	 */
	private static final Duration RENDERED = Duration.ofSeconds(2);

	private final IdempotencyEngine engine;

	private final boolean endIsReported;

	private final Consumer<StoredResponse> keep;

	private @Nullable StoredResponse error;

	private boolean rendering;

	/**
	 * Creates the wait, which has not begun.
	 * @param engine the engine, which has threads for later tasks
	 * @param endIsReported whether a listener reports the end of the request
	 */
	public AwaitedError(IdempotencyEngine engine, boolean endIsReported, Consumer<StoredResponse> keep) {
		this.engine = engine;
		this.endIsReported = endIsReported;
		this.keep = keep;
	}

	/** Returns whether an error is awaited. */
	public boolean isAwaited() {
		return this.error != null;
	}

	/**
	 * Waits for the rendering of an error. If no listener reports the end of the request,
	 * the error itself is kept at once.
	 */
	public void await(StoredResponse answer) {
		if (this.endIsReported) {
			this.error = answer;
		}
		else {
			this.keep.accept(answer);
		}
	}

	/** Notes that a dispatch renders the error. */
	public void renders() {
		this.rendering = true;
	}

	/** Returns the answer together with the error that it renders. */
	public StoredResponse with(StoredResponse answer) {
		return (this.error != null) ? answer.rendering(this.error) : answer;
	}

	/** Keeps the error itself if nothing renders it. */
	public void requestDestroyed() {
		StoredResponse awaited = this.error;
		if (awaited == null) {
			return;
		}
		if (this.rendering) {
			this.keep.accept(awaited);
		}
		else {
			this.engine.runAfter(RENDERED, () -> this.keep.accept(awaited));
		}
	}

}
