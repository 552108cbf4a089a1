package io.idempotency.reactor;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;

import io.idempotency.protocol.TransactionOutcome;
import io.idempotency.store.RecordKey;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Transactions whose steps fail, or end when the test says so. A rollback takes the
 * record with it.
 */
final class ScriptedTransactions implements ReactiveTransactionStarter {

	private static final Class<?> INSIDE = ScriptedTransactions.class;

	final List<String> steps = new ArrayList<>();

	final Queue<UnaryOperator<Mono<Void>>> begins = new ConcurrentLinkedQueue<>();

	final Queue<UnaryOperator<Mono<Void>>> commits = new ConcurrentLinkedQueue<>();

	private final MemoryIdempotencyStore memory;

	private TransactionOutcome ofFailedCommit = TransactionOutcome.ROLLED_BACK;

	ScriptedTransactions(MemoryIdempotencyStore memory) {
		this.memory = memory;
	}

	void failCommit(Throwable failure, TransactionOutcome outcome) {
		this.ofFailedCommit = outcome;
		this.commits.add((commit) -> Mono.error(failure));
	}

	static boolean isInside(ContextView context) {
		return context.hasKey(INSIDE);
	}

	@Override
	public Mono<Begun> begin() {
		return step("begin", this.begins, Mono.empty()).then(Mono.fromSupplier(Open::new));
	}

	private Mono<Void> step(String name, Queue<UnaryOperator<Mono<Void>>> script, Mono<Void> usual) {
		return Mono.defer(() -> {
			this.steps.add(name);
			UnaryOperator<Mono<Void>> line = script.poll();
			return (line != null) ? line.apply(usual) : usual;
		}).doOnCancel(() -> this.steps.add(name + " cancelled"));
	}

	private final class Open implements Begun {

		private TransactionOutcome outcome = TransactionOutcome.UNKNOWN;

		@Override
		public Context inside(Context outside) {
			return outside.put(INSIDE, this);
		}

		@Override
		public Mono<Void> commit() {
			return step("commit", ScriptedTransactions.this.commits, Mono.empty())
				.doOnSuccess((nothing) -> this.outcome = TransactionOutcome.COMMITTED)
				.doOnError((failure) -> {
					this.outcome = ScriptedTransactions.this.ofFailedCommit;
					if (this.outcome == TransactionOutcome.ROLLED_BACK) {
						undo();
					}
				});
		}

		@Override
		public Mono<Void> rollback() {
			return step("rollback", new ConcurrentLinkedQueue<>(), Mono.fromRunnable(() -> {
				this.outcome = TransactionOutcome.ROLLED_BACK;
				undo();
			}));
		}

		private void undo() {
			ScriptedTransactions.this.memory.admin().orElseThrow().evict(RecordKey.of(ReactiveNode.KEY), true);
		}

		@Override
		public TransactionOutcome outcome() {
			return this.outcome;
		}

	}

}
