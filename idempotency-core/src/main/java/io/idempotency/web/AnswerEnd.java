package io.idempotency.web;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.idempotency.engine.Ending;
import io.idempotency.store.ResultKind;
import org.jspecify.annotations.Nullable;

/**
 * Tells the engine how a call has ended, whose answer may come long after its handler has
 * returned. What is told first counts. Thread-safe.
 */
final class AnswerEnd {

	private final HttpSettings settings;

	private final CompletableFuture<Ending> ending = new CompletableFuture<>();

	AnswerEnd(HttpSettings settings) {
		this.settings = settings;
	}

	/** The ending, when it is known. */
	Ending later() {
		return new Ending.Later(this.ending);
	}

	boolean isKnown() {
		return this.ending.isDone();
	}

	void kept(ResultKind kind, Supplier<StoredResponse> answer) {
		this.ending.complete(new Ending.Done(() -> StoredResponseCodec.encode(answer.get()), kind, keptAtMost(kind)));
	}

	void unkept(@Nullable Throwable why, ResultKind kind) {
		this.ending.complete(new Ending.DoneUnkept(why, kind, keptAtMost(kind)));
	}

	/**
	 * The call has failed in a transaction that is not to be undone any more: its answer
	 * is kept.
	 */
	void failed(@Nullable Throwable why, Supplier<StoredResponse> answer) {
		this.ending.complete(new Ending.Failed(why, () -> StoredResponseCodec.encode(answer.get())));
	}

	/** The call has ended, and nothing of its answer is to be kept. */
	void end(HttpEnding how, @Nullable Throwable why) {
		this.ending.complete(switch (how) {
			case UNKEPT -> new Ending.DoneUnkept(why);
			case FAILED -> new Ending.Failed(why, null);
			case NOT_RUN -> new Ending.NotRun(why);
			case OUT_OF_SIGHT -> Ending.OUT_OF_SIGHT;
			case KEPT, KEPT_WHEN_RENDERED, UNDECIDED ->
				throw new IllegalStateException("Not an end without an answer: " + how);
		});
	}

	private @Nullable Duration keptAtMost(ResultKind kind) {
		return (kind == ResultKind.REFUSAL) ? this.settings.retentionOnError() : null;
	}

}
