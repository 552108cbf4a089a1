package io.idempotency.webflux;

import java.util.function.Supplier;

import io.idempotency.protocol.Ending;
import io.idempotency.reactor.ReactiveOpenWork;
import reactor.core.publisher.Mono;

/**
 * The answer of a handler whose record commits with its work: it is made inside of the
 * transaction, and nothing of it is sent before the commit. What failed is rolled back
 * before a handler of exceptions sees it.
 *
 * @param open the work
 * @param pass the way of the request
 * @param held the answer
 * @param kept gives the ending that keeps the answer
 */
record JoinedAnswer(ReactiveOpenWork open, Pass pass, HeldResponse held, Supplier<Ending> kept) {

	/** Makes the answer, and ends the transaction. */
	Mono<Void> made(Mono<Void> written) {
		this.held.beforePassing(this::commitFirst);
		// A handler may leave it to the server to commit an answer without a body.
		Mono<Void> whole = written.then(Mono.defer(this.held::setComplete));
		return this.open
			.run(whole, () -> (this.pass.isEntered() && this.pass.failure() == null) ? this.kept.get() : null)
			.onErrorResume((thrown) -> {
				if (!this.held.isWhole()) {
					return Mono.error(thrown);
				}
				this.held.startAnew();
				return this.pass.undone(thrown) ? Mono.never() : Mono.error(thrown);
			});
	}

	/** What is sent cannot be taken back. */
	private Mono<Void> commitFirst() {
		return this.pass.hasReturned() ? this.open.commit() : Mono
			.error(() -> new IllegalStateException("The answer would be sent while its work goes on, and "
					+ "transaction = JOIN sends nothing before the commit, so the work is rolled back. Collect what the "
					+ "handler gives, at most idempotency.http.max-response-size of it, or take "
					+ "TransactionMode.SEPARATE"));
	}

}
