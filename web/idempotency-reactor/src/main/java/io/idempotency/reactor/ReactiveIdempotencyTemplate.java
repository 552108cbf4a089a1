package io.idempotency.reactor;

import java.lang.reflect.Type;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyTemplate;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Guards code without an annotation, as {@link IdempotencyTemplate} does, and blocks no
 * thread.
 *
 * <pre class="code">
 * Mono&lt;Payment&gt; payment = idempotency.execute("payment.create",
 *         (call) -&gt; call.key(order.id(), order.version()).fingerprint(order.amount()),
 *         Payment.class, () -&gt; gateway.pay(order));
 * </pre>
 *
 * The description runs, and the key is claimed, at each subscription. The work is
 * subscribed once, independently of the subscriber. If the subscriber cancels, it does
 * not receive the result, and the work continues. A waiting duplicate does not hold a
 * thread. A rejected call fails with an {@link io.idempotency.IdempotencyException}.
 * Thread-safe.
 * <p>
 * A description works as with {@link IdempotencyTemplate}, with three differences:
 * {@link IdempotencyTemplate.Call#recover recover} may return a {@code Mono}, a call does
 * not join a transaction, and a token must be issued by
 * {@link io.idempotency.IdempotencyTokens}, whose caller is bound to the thread.
 *
 * @since 0.1.0
 */
public interface ReactiveIdempotencyTemplate {

	/**
	 * Runs an action once for its key. A duplicate receives the first result.
	 * @param <T> the type of the result
	 * @param operation the name of the operation, a part of the key
	 * @param description sets the key and the options of the call, and must not block
	 * @param type the type to which a stored result is decoded, {@code Void} for none
	 * @param action returns the work, and must not block
	 * @return the result, empty if the work completed empty. Fails with the failure of
	 * the work; a second value counts as a failure. Fails with an
	 * {@link IllegalArgumentException} if results of the type cannot be replayed, or if
	 * the description is contradictory; the work does not run in that case
	 */
	default <T> Mono<T> execute(String operation, Consumer<? super IdempotencyTemplate.Call> description, Class<T> type,
			Supplier<? extends Publisher<? extends T>> action) {
		return call(operation, description, type, action);
	}

	/**
	 * Runs an action as {@link #execute} does, for a result of any type including generic
	 * types.
	 * @param <T> the type of the result
	 * @param operation the name of the operation, a part of the key
	 * @param description sets the key and the options of the call, and must not block
	 * @param type the type to which a stored result is decoded
	 * @param action returns the work, and must not block
	 * @return the result, as that of {@link #execute}
	 */
	<T> Mono<T> call(String operation, Consumer<? super IdempotencyTemplate.Call> description, Type type,
			Supplier<? extends Publisher<? extends T>> action);

}
