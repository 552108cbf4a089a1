package io.idempotency.proofs.simulation;

import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** What a client hears of its call, until the answer is there or it hangs up. */
final class Hearing {

	private @Nullable Disposable subscription;

	private @Nullable Runnable ended;

	private @Nullable Object value;

	private @Nullable Throwable failure;

	private boolean answered;

	private boolean over;

	void begin(Mono<Object> call, Runnable told) {
		this.ended = told;
		this.subscription = call.subscribe((result) -> this.value = result, (thrown) -> {
			this.failure = thrown;
			answered();
		}, this::answered);
	}

	private void answered() {
		this.answered = true;
		if (this.ended != null) {
			this.ended.run();
		}
	}

	/** Returns whether there was an answer to wait for. */
	boolean hangUp() {
		Disposable call = this.subscription;
		if (call == null || this.answered || this.ended == null) {
			return false;
		}
		this.over = true;
		call.dispose();
		this.ended.run();
		return true;
	}

	/** Returns whether nobody hears an answer any more. */
	boolean isOver() {
		return this.over;
	}

	@Nullable Object answer() throws Throwable {
		if (this.failure != null) {
			throw this.failure;
		}
		return this.value;
	}

}
