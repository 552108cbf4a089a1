package io.idempotency.reactor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.RecordKey;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Transactions whose steps fail, or end when the test says so. A rollback takes the
 * record with it.
 */
final class ScriptedTransactions implements ReactiveTransactionStarter {

	private static final Class<?> INSIDE = ScriptedTransactions.class;

	final List<String> steps = new ArrayList<>();

	final Queue<UnaryOperator<Mono<Void>>> begins = new ConcurrentLinkedQueue<>();

	final Queue<UnaryOperator<Mono<Void>>> commits = new ConcurrentLinkedQueue<>();

	final Queue<UnaryOperator<Mono<Void>>> rollbacks = new ConcurrentLinkedQueue<>();

	/** Is thrown by the methods that end a transaction. */
	@Nullable RuntimeException broken;

	volatile Duration timeout = Duration.ofMinutes(1);

	private final AtomicInteger open = new AtomicInteger();

	private final MemoryIdempotencyStore memory;

	private TransactionOutcome ofFailedCommit = TransactionOutcome.ROLLED_BACK;

	ScriptedTransactions(MemoryIdempotencyStore memory) {
		this.memory = memory;
	}

	void failCommit(Throwable failure, TransactionOutcome outcome) {
		this.ofFailedCommit = outcome;
		this.commits.add((commit) -> Mono.error(failure));
	}

	void assertThatAllHaveEnded() {
		assertThat(this.open).as("open transactions after %s", this.steps).hasValue(0);
	}

	@Override
	public Duration timeout() {
		return this.timeout;
	}

	static boolean isInside(ContextView context) {
		return context.hasKey(INSIDE);
	}

	@Override
	public Mono<Void> transactional(Mono<Void> work, Consumer<TransactionOutcome> ended) {
		return step("begin", this.begins, Mono.empty()).then(Mono.fromSupplier(() -> {
			this.open.incrementAndGet();
			return new Open();
		}))
			.flatMap((open) -> work.contextWrite(open::inside)
				.onErrorResume((failure) -> Mono.defer(open::rollback)
					.onErrorResume((other) -> Mono.empty())
					.doOnTerminate(() -> ended.accept(open.outcome))
					.then(Mono.error(failure)))
				.then(Mono.defer(open::commit).doOnTerminate(() -> ended.accept(open.outcome))));
	}

	private Mono<Void> step(String name, Queue<UnaryOperator<Mono<Void>>> script, Mono<Void> usual) {
		return Mono.defer(() -> {
			this.steps.add(name);
			UnaryOperator<Mono<Void>> line = script.poll();
			return (line != null) ? line.apply(usual) : usual;
		}).doOnCancel(() -> this.steps.add(name + " cancelled"));
	}

	private final class Open {

		private TransactionOutcome outcome = TransactionOutcome.UNKNOWN;

		Context inside(Context outside) {
			return outside.put(INSIDE, this);
		}

		Mono<Void> commit() {
			requireWhole();
			return step("commit", ScriptedTransactions.this.commits, Mono.empty())
				.doOnTerminate(ScriptedTransactions.this.open::decrementAndGet)
				.doOnSuccess((nothing) -> this.outcome = TransactionOutcome.COMMITTED)
				.doOnError((failure) -> {
					this.outcome = ScriptedTransactions.this.ofFailedCommit;
					if (this.outcome == TransactionOutcome.ROLLED_BACK) {
						undo();
					}
				});
		}

		Mono<Void> rollback() {
			requireWhole();
			return step("rollback", ScriptedTransactions.this.rollbacks, Mono.fromRunnable(() -> {
				this.outcome = TransactionOutcome.ROLLED_BACK;
				undo();
			})).doOnTerminate(ScriptedTransactions.this.open::decrementAndGet);
		}

		private void requireWhole() {
			RuntimeException thrown = ScriptedTransactions.this.broken;
			if (thrown != null) {
				throw thrown;
			}
		}

		private void undo() {
			ScriptedTransactions.this.memory.admin().orElseThrow().evict(RecordKey.of(ReactiveNode.KEY), true);
		}

	}

}
