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
 * The call is described, and its key is claimed, at each subscription. The work is
 * subscribed to once, apart from the subscriber: whoever cancels loses the response, and
 * the work goes on. A duplicate that waits holds no thread. A call that is rejected fails
 * with an {@link io.idempotency.IdempotencyException}. Thread-safe.
 * <p>
 * A description says the same as that of {@link IdempotencyTemplate}, with three
 * differences: {@link IdempotencyTemplate.Call#recover recover} may give a {@code Mono},
 * a call joins no transaction, and its token is one of
 * {@link io.idempotency.IdempotencyTokens}, whose caller the thread knows.
 *
 * @since 0.1.0
 */
public interface ReactiveIdempotencyTemplate {

	/**
	 * Runs an action once for its key; a duplicate gets the first result.
	 * @param <T> the type of the result
	 * @param operation name of the operation, a part of the key
	 * @param description gives the call its key and the rest, and must not block
	 * @param type the type as which a stored result is decoded, {@code Void} for none
	 * @param action gives the work, and must not block
	 * @return the result, empty if the work has completed empty; fails with the failure
	 * of the work, which a second value is, too, and with an
	 * {@link IllegalArgumentException} if results of the type cannot be replayed, or the
	 * call contradicts itself, and nothing has run
	 */
	default <T> Mono<T> execute(String operation, Consumer<? super IdempotencyTemplate.Call> description, Class<T> type,
			Supplier<? extends Publisher<? extends T>> action) {
		return call(operation, description, type, action);
	}

	/**
	 * Does the same as {@link #execute} for a result of any type, generic types included.
	 * @param <T> the type of the result
	 * @param operation name of the operation, a part of the key
	 * @param description gives the call its key and the rest, and must not block
	 * @param type the type as which a stored result is decoded
	 * @param action gives the work, and must not block
	 * @return the result, as that of {@link #execute}
	 */
	<T> Mono<T> call(String operation, Consumer<? super IdempotencyTemplate.Call> description, Type type,
			Supplier<? extends Publisher<? extends T>> action);

}
