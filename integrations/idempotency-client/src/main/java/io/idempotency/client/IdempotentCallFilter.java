package io.idempotency.client;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

import io.idempotency.client.IdempotencyKeys.Intent;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;
import reactor.util.retry.Retry;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;
import org.springframework.web.reactive.function.client.ExchangeFunction;
import org.springframework.web.reactive.function.client.WebClientRequestException;

/**
 * Sends a key with each call of a {@code WebClient}, and repeats a call whose response
 * was lost: {@code builder.filter(idempotentCalls)}. {@link IdempotentCalls} configures
 * which calls are repeated. Thread-safe; no thread waits.
 * <p>
 * The bytes of the request are kept while the first attempt sends them, and later
 * attempts send them again. A body that cannot be repeated is sent once, with the key:
 * one that is larger than {@link IdempotentCalls.Builder#maxBodySize(int)}, one that is
 * flushed while it is written ({@code application/x-ndjson}), and one that the first
 * attempt did not send completely.
 * <p>
 * A subscriber that cancels ends the repetitions. Each subscription is a separate call
 * with a separate key: a {@code retry()} of the application needs {@link #key(String)},
 * {@link IdempotencyKeys} or a header that the application sets.
 *
 * @since 0.1.0
 */
public final class IdempotentCallFilter implements ExchangeFilterFunction {

	private final IdempotentCalls calls;

	private final Timing timing;

	/**
	 * Creates a filter.
	 * @param calls the configuration of keys and retries
	 */
	public IdempotentCallFilter(IdempotentCalls calls) {
		this(calls, Timing.SYSTEM);
	}

	IdempotentCallFilter(IdempotentCalls calls, Timing timing) {
		this.calls = calls;
		this.timing = timing;
	}

	/**
	 * Assigns the key of its intent to a call:
	 * {@code mono.contextWrite(IdempotentCallFilter.key("order-42"))}. This method helps
	 * where {@link IdempotencyKeys#with} does not, because another thread subscribes to
	 * the call. A key names one call here as well, as with {@code IdempotencyKeys}.
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
				key = this.calls.keyFor(request.method().name(), request.url(), intent(context));
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
		return new KeyedCall(keyed, body, next, new AttemptCounter(this.calls, this.timing), this.calls.maxBodySize())
			.send();
	}

	/**
	 * Sends a WebClient call until it has a response. Reactor's {@link Retry} subscribes
	 * again; {@link AttemptCounter} decides when, as it does for blocking clients. For
	 * one subscription.
	 */
	private record KeyedCall(ClientRequest request, RepeatableBody body, ExchangeFunction next, AttemptCounter attempts,
			int maxBodySize) {

		Mono<ClientResponse> send() {
			return Mono.defer(this::attempt)
				.flatMap(this::answered)
				.onErrorResume(KeyedCall::isWithoutAnswer, this::failed)
				.retryWhen(Retry.withThrowable(
						(failures) -> failures.concatMap((failure) -> (failure instanceof RepeatSignal repeat)
								? Mono.delay(repeat.delay) : Mono.<Long>error(failure))));
		}

		private Mono<ClientResponse> attempt() {
			this.attempts.begin();
			return this.next.exchange(this.request);
		}

		private Mono<ClientResponse> answered(ClientResponse answer) {
			HttpHeaders headers = answer.headers().asHttpHeaders();
			ResponseHead head = new ResponseHead(answer.statusCode().value(), headers.getContentLength(),
					headers::getFirst);
			if (!head.mayBeProblem(this.maxBodySize)) {
				return answered(answer, head, null);
			}
			// If a problem of unknown length is larger than the bound, its status
			// decides.
			return read(answer, head).map(Optional::of)
				.onErrorResume(DataBufferLimitException.class, (tooLarge) -> Mono.just(Optional.empty()))
				.flatMap((bytes) -> answered(with(bytes.orElse(new byte[0]), answer), head,
						bytes.map(Rejection::of).orElse(null)));
		}

		private Mono<ClientResponse> answered(ClientResponse answer, ResponseHead head, @Nullable Rejection rejection) {
			Duration delay = this.body.isRepeatable()
					? this.attempts.afterAnswer(head.status(), head.retryAfter(), rejection) : null;
			if (delay != null) {
				// The next attempt does not depend on whether this connection can be
				// released.
				return answer.releaseBody().onErrorComplete().then(Mono.error(new RepeatSignal(delay)));
			}
			if (rejection != null) {
				return Mono
					.error(new RejectedCallException(head.status(), rejection, this.attempts.parse(head.retryAfter())));
			}
			return head.isHeld(this.maxBodySize) ? read(answer, head).map((bytes) -> with(bytes, answer))
					: Mono.just(answer);
		}

		private Mono<ClientResponse> failed(Throwable failure) {
			Duration delay = this.body.isRepeatable() ? this.attempts.afterFailure() : null;
			return Mono.error((delay != null) ? new RepeatSignal(delay) : failure);
		}

		private static boolean isWithoutAnswer(Throwable failure) {
			return failure instanceof WebClientRequestException || failure instanceof IOException;
		}

		private Mono<byte[]> read(ClientResponse answer, ResponseHead head) {
			Flux<DataBuffer> body = answer.body(BodyExtractors.toDataBuffers());
			// A known length bounds the read.
			return ((head.length() < 0) ? DataBufferUtils.join(body, this.maxBodySize) : DataBufferUtils.join(body))
				.map(KeyedCall::bytes)
				.defaultIfEmpty(new byte[0])
				.flatMap((bytes) -> Mono.fromCallable(() -> {
					head.requireWhole(bytes.length);
					return bytes;
				}));
		}

		private static ClientResponse with(byte[] bytes, ClientResponse answer) {
			return answer.mutate()
				.body((original) -> Flux.defer(() -> Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(bytes))))
				.build();
		}

		private static byte[] bytes(DataBuffer buffer) {
			byte[] bytes = new byte[buffer.readableByteCount()];
			buffer.read(bytes);
			DataBufferUtils.release(buffer);
			return bytes;
		}

		/** Carries the delay from the decision to Reactor's retry. */
		private static final class RepeatSignal extends RuntimeException {

			private final Duration delay;

			RepeatSignal(Duration delay) {
				super("The call is retried", null, false, false);
				this.delay = delay;
			}

		}

	}

}
