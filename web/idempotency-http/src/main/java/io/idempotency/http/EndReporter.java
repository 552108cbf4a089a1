package io.idempotency.http;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.idempotency.Internal;
import io.idempotency.engine.Ending;
import io.idempotency.http.HttpOutcomeClassifier.Outcome;
import io.idempotency.store.ResultKind;
import org.jspecify.annotations.Nullable;

/**
 * Tells the engine how a call has ended. The response may come long after the handler has
 * returned. Only the first ending counts. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class EndReporter {

	private final HttpSettings settings;

	private final CompletableFuture<Ending> ending = new CompletableFuture<>();

	public EndReporter(HttpSettings settings) {
		this.settings = settings;
	}

	/** Returns an ending that completes when the end of the call is known. */
	public Ending later() {
		return new Ending.Later(this.ending);
	}

	/** Returns the ending itself if the end of the call is known, else as above. */
	public Ending ending() {
		return isKnown() ? this.ending.join() : later();
	}

	public boolean isKnown() {
		return this.ending.isDone();
	}

	public void kept(ResultKind kind, StoredResponse answer) {
		this.ending.complete(new Ending.Done(() -> StoredResponseCodec.encode(answer), kind, keptAtMost(kind)));
	}

	public void unkept(@Nullable Throwable why, ResultKind kind) {
		this.ending.complete(new Ending.DoneUnkept(why, kind, keptAtMost(kind)));
	}

	/**
	 * Ends the call as failed. If its transaction is already committed, the work is not
	 * undone, and the response is kept.
	 */
	public void failed(@Nullable Throwable why, @Nullable StoredResponse answer) {
		this.ending
			.complete(new Ending.Failed(why, (answer != null) ? () -> StoredResponseCodec.encode(answer) : null));
	}

	/** Ends the call; nothing of its response is kept. */
	public void end(Outcome outcome, @Nullable Throwable why) {
		this.ending.complete(switch (outcome) {
			case SUCCESS_WITHOUT_RESULT -> new Ending.DoneUnkept(why);
			case FAILED -> new Ending.Failed(why, null);
			case NOT_RUN -> new Ending.NotRun(why);
			case INDETERMINATE -> Ending.OUT_OF_SIGHT;
			case SUCCESS, DEFERRED -> throw new IllegalStateException("Not an outcome without a response: " + outcome);
		});
	}

	private @Nullable Duration keptAtMost(ResultKind kind) {
		return (kind == ResultKind.REFUSAL) ? this.settings.retentionOnError() : null;
	}

}
