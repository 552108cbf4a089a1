package io.idempotency.client;

import java.util.function.Function;

import io.idempotency.client.IdempotencyKeys.Intent;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;

/**
 * Sends a key with each call of a {@code WebClient}, and repeats a call whose answer was
 * lost: {@code builder.filter(idempotentCalls)}. {@link IdempotentCalls} says what is
 * repeated. Thread-safe; no thread waits.
 * <p>
 * The bytes of the request are kept while the first attempt sends them, and later
 * attempts send them again. A body that cannot be repeated is sent once, with the key:
 * one that is larger than {@link IdempotentCalls.Builder#maxBodySize(int)}, one that is
 * flushed while it is written ({@code application/x-ndjson}), and one that the first
 * attempt had not sent to its end.
 * <p>
 * A subscriber that cancels ends the repetitions. Each subscription is a call of its own,
 * with a key of its own: a {@code retry()} of the application needs {@link #key(String)},
 * {@link IdempotencyKeys} or a header that the application sets.
 *
 * @since 0.1.0
 */
public final class IdempotentCallFilter implements ExchangeFilterFunction {

	private final IdempotentCalls calls;

	private final Timing timing;

	/**
	 * Creates a filter.
	 * @param calls says what gets a key and what is repeated
	 */
	public IdempotentCallFilter(IdempotentCalls calls) {
		this(calls, Timing.SYSTEM);
	}

	IdempotentCallFilter(IdempotentCalls calls, Timing timing) {
		this.calls = calls;
		this.timing = timing;
	}

	/**
	 * Gives a call the key of its intent:
	 * {@code mono.contextWrite(IdempotentCallFilter.key("order-42"))}. This method helps
	 * where {@link IdempotencyKeys#with} does not, because another thread subscribes to
	 * the call. Here, too, a key names one call.
	 * @param key the key: 1 to 255 characters of printable ASCII without blanks, quotes,
	 * commas and semicolons
	 * @return the function to pass to {@code contextWrite}
	 * @throws IllegalArgumentException if the key is malformed
	 */
	public static Function<Context, Context> key(String key) {
		Intent intent = new Intent(key);
		return (context) -> context.put(Intent.class, intent);
	}

	@Override
	public Mono<ClientResponse> filter(ClientRequest request, ExchangeFunction next) {
		return Mono.deferContextual((context) -> {
			String header = this.calls.header();
			String key = request.headers().getFirst(header);
			if (key == null) {
				key = RequestKeys.of(this.calls, request.method().name(), request.url(), intent(context));
			}
			return (key != null) ? send(request, key, next) : next.exchange(request);
		});
	}

	private static @Nullable Intent intent(ContextView context) {
		Intent intent = context.getOrDefault(Intent.class, null);
		return (intent != null) ? intent : IdempotencyKeys.current();
	}

	private Mono<ClientResponse> send(ClientRequest request, String key, ExchangeFunction next) {
		RepeatableBody body = new RepeatableBody(request.body(), this.calls.maxBodySize());
		ClientRequest keyed = ClientRequest.from(request)
			.headers((headers) -> headers.set(this.calls.header(), key))
			.body(body)
			.build();
		return new ReactiveCall(keyed, body, next, new AttemptCounter(this.calls, this.timing),
				this.calls.maxBodySize())
			.send();
	}

}
