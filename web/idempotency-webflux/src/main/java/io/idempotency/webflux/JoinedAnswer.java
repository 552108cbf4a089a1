package io.idempotency.webflux;

import java.util.function.Supplier;

import io.idempotency.interceptor.GuardFaultException;
import io.idempotency.engine.Ending;
import io.idempotency.reactor.ReactiveAction.ReactiveOpenWork;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

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
			.run(whole.contextWrite((context) -> context.put(JoinedAnswer.class, this)),
					() -> (this.pass.isEntered() && this.pass.progress().failure() == null
							&& !this.pass.progress().isCutOff()) ? this.kept.get() : null)
			.onErrorResume((thrown) -> {
				if (!this.held.isWhole()) {
					return Mono.error(thrown);
				}
				this.held.startAnew();
				return this.pass.undone(thrown) ? Mono.never() : Mono.error(thrown);
			});
	}

	/**
	 * Returns whether a subscription is a part of an answer, and so in its transaction.
	 */
	static boolean isInside(ContextView context) {
		return context.hasKey(JoinedAnswer.class);
	}

	/**
	 * Takes work into its transaction that Spring subscribes to before it has a result to
	 * answer: that of a {@code Mono<Void>} whose handler has the exchange, or says its
	 * status. Nobody would answer a value there.
	 */
	Mono<Void> madeByItself(Publisher<?> work) {
		return made(Flux.from(work)
			.flatMap((value) -> Mono.<Void>error(() -> new GuardFaultException("The handler is called by other code "
					+ "than Spring's, outside of the transaction of its record: its work is rolled back. Take "
					+ "TransactionMode.SEPARATE", null)))
			.then());
	}

	/** What is sent cannot be taken back. */
	private Mono<Void> commitFirst() {
		return this.pass.progress().hasReturned() ? this.open.commit() : Mono
			.error(() -> new GuardFaultException("The answer would be sent while its work goes on, and "
					+ "transaction = JOIN sends nothing before the commit, so the work is rolled back. Collect what the "
					+ "handler gives, at most idempotency.http.max-response-size of it, or take "
					+ "TransactionMode.SEPARATE", null));
	}

}
