package io.idempotency.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.engine.WorkTransactions.TransactionStarter;
import org.jspecify.annotations.Nullable;

/** Transactions that commit nothing, and end as the test wants. */
class TestTransactions implements TransactionStarter {

	final List<TransactionOutcome> outcomes = new ArrayList<>();

	/** The ends that are told by the test, later. */
	final List<Runnable> later = new ArrayList<>();

	boolean begins = true;

	/** Whether the thread may hold a connection although no transaction is open. */
	boolean holdsSomething;

	boolean tellsLater;

	/** Why none is begun. */
	@Nullable RuntimeException beginFailure;

	/** What the commit fails with, and how the transaction has ended then. */
	@Nullable RuntimeException failure;

	TransactionOutcome failed = TransactionOutcome.ROLLED_BACK;

	/** Looks at what is there before a transaction ends. */
	Runnable beforeEnd = () -> {
	};

	int begun;

	boolean isOpen;

	@Override
	public boolean isSurrounded() {
		return !this.begins;
	}

	@Override
	public boolean wouldBegin() {
		return this.begins && !this.holdsSomething;
	}

	@Override
	public StartedTransaction begin(Consumer<TransactionOutcome> ended) {
		RuntimeException rejection = this.beginFailure;
		if (rejection != null) {
			throw rejection;
		}
		this.begun++;
		this.isOpen = true;
		return new StartedTransaction() {

			@Override
			public boolean isAlone() {
				return TestTransactions.this.begins;
			}

			@Override
			public void flush() {
				// Nothing is in memory.
			}

			@Override
			public void commit() {
				RuntimeException thrown = TestTransactions.this.failure;
				end((thrown != null) ? TestTransactions.this.failed : TransactionOutcome.COMMITTED, ended);
				if (thrown != null) {
					throw thrown;
				}
			}

			@Override
			public void rollback(Throwable cause) {
				end(TransactionOutcome.ROLLED_BACK, ended);
			}

		};
	}

	private void end(TransactionOutcome outcome, Consumer<TransactionOutcome> ended) {
		this.beforeEnd.run();
		this.isOpen = false;
		this.outcomes.add(outcome);
		if (this.tellsLater) {
			this.later.add(() -> ended.accept(outcome));
		}
		else {
			ended.accept(outcome);
		}
	}

}
