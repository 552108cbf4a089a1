package io.idempotency.reactor;

import java.util.function.Supplier;

import io.idempotency.Internal;
import io.idempotency.engine.Ending;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Work whose transaction is open, for a door that
 * {@linkplain ReactiveAction#takes(ReactiveOpenWork) takes} only a part of its way into
 * it. For one call.
 *
 * @hidden
 */
@Internal
public interface ReactiveOpenWork {

	/**
	 * Runs the part of the way that is in the transaction, which ends with it: it is
	 * committed, together with the record, when that part has completed, and rolled back
	 * when it has failed. Is called once.
	 * @param work the part
	 * @param done is asked when the part has completed: gives the ending of work that is
	 * done, {@code null} to roll back, where the ending is told later
	 * @return completes when the transaction has ended; fails with the failure of the
	 * part or of the commit, and then nothing of the work is there, or that is not known
	 */
	Mono<Void> run(Mono<Void> work, Supplier<@Nullable Ending> done);

	/**
	 * Commits ahead of the end of that part, because something is about to be sent that
	 * cannot be taken back. The result is attached later.
	 * @return fails with the exception of the commit
	 */
	Mono<Void> commit();

}
