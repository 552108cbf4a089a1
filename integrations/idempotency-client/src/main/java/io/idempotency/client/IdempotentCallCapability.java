package io.idempotency.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import feign.Capability;
import feign.Client;
import feign.Request;
import feign.Response;
import feign.RetryableException;
import feign.Retryer;
import org.jspecify.annotations.Nullable;

/**
 * Sends a key with each call of a Feign client, and repeats a call whose answer was lost:
 * {@code Feign.builder().addCapability(new IdempotentCallCapability(calls))}.
 * {@link IdempotentCalls} says what is repeated. Thread-safe.
 * <p>
 * Feign's own {@link Retryer} would send each of its attempts with a new key, and after
 * any answer that has {@code Retry-After}. So this capability keeps that retryer from
 * repeating calls that have a key or get one. Feign's retryer still repeats all other
 * calls.
 * <p>
 * The capability waits on the caller's thread, as {@link IdempotentCallInterceptor} does.
 * Clients of {@code AsyncFeign} are not served.
 *
 * @since 0.1.0
 * @see IdempotencyKeys
 */
public final class IdempotentCallCapability implements Capability {

	private final IdempotentCalls calls;

	private final Timing timing;

	/**
	 * Creates a capability.
	 * @param calls says what gets a key and what is repeated
	 */
	public IdempotentCallCapability(IdempotentCalls calls) {
		this(calls, Timing.SYSTEM);
	}

	IdempotentCallCapability(IdempotentCalls calls, Timing timing) {
		this.calls = calls;
		this.timing = timing;
	}

	@Override
	public Client enrich(Client client) {
		return new KeyedFeignClient(client, this.calls, this.timing);
	}

	@Override
	public Retryer enrich(Retryer retryer) {
		return new KeylessRetryer(retryer, this.calls);
	}

	/** Feign's retry for the calls that have no key and get none. */
	private static final class KeylessRetryer implements Retryer {

		private final Retryer retryer;

		private final IdempotentCalls calls;

		KeylessRetryer(Retryer retryer, IdempotentCalls calls) {
			this.retryer = retryer;
			this.calls = calls;
		}

		@Override
		public void continueOrPropagate(RetryableException ex) {
			if (this.calls.getKeys(ex.method().name())
					|| (ex.hasRequest() && KeyedFeignClient.hasKey(ex.request(), this.calls))) {
				throw ex;
			}
			this.retryer.continueOrPropagate(ex);
		}

		@Override
		public Retryer clone() {
			return new KeylessRetryer(this.retryer.clone(), this.calls);
		}

	}

	/** The client of Feign that sends keys. */
	private static final class KeyedFeignClient implements Client {

		private final Client client;

		private final IdempotentCalls calls;

		private final BlockingCaller sender;

		KeyedFeignClient(Client client, IdempotentCalls calls, Timing timing) {
			this.client = client;
			this.calls = calls;
			this.sender = new BlockingCaller(calls, timing);
		}

		@Override
		public Response execute(Request request, Request.Options options) throws IOException {
			if (hasKey(request, this.calls)) {
				return this.sender.send(new FeignExchange(request, options));
			}
			String key = RequestKeys.of(this.calls, request.httpMethod().name(), URI.create(request.url()),
					IdempotencyKeys.current());
			return (key != null) ? this.sender.send(new FeignExchange(with(key, request), options))
					: this.client.execute(request, options);
		}

		static boolean hasKey(Request request, IdempotentCalls calls) {
			return request.headers().keySet().stream().anyMatch(calls.header()::equalsIgnoreCase);
		}

		private Request with(String key, Request request) {
			Map<String, Collection<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
			headers.putAll(request.headers());
			headers.put(this.calls.header(), List.of(key));
			return Request.create(request.httpMethod(), request.url(), headers, request.body(), request.charset(),
					request.requestTemplate());
		}

		private final class FeignExchange implements BlockingExchange<Response> {

			private final Request request;

			private final Request.Options options;

			FeignExchange(Request request, Request.Options options) {
				this.request = request;
				this.options = options;
			}

			@Override
			public Response send() throws IOException {
				return KeyedFeignClient.this.client.execute(this.request, this.options);
			}

			@Override
			public int status(Response answer) {
				return answer.status();
			}

			@Override
			public @Nullable String header(String name, Response answer) {
				return answer.headers()
					.entrySet()
					.stream()
					.filter((header) -> header.getKey().equalsIgnoreCase(name))
					.flatMap((header) -> header.getValue().stream())
					.findFirst()
					.orElse(null);
			}

			@Override
			public long length(Response answer) {
				Response.Body body = answer.body();
				if (body == null) {
					return 0;
				}
				return (body.length() != null) ? body.length() : -1;
			}

			@Override
			public Held<Response> read(Response answer, int maxSize) throws IOException {
				try {
					InputStream in = answer.body().asInputStream();
					byte[] start = in.readNBytes(maxSize);
					if (start.length < maxSize) {
						answer.close();
						return new Held<>(answer.toBuilder().body(start).build(), start);
					}
					InputStream body = new SequenceInputStream(new ByteArrayInputStream(start), in);
					return new Held<>(answer.toBuilder().body(body, answer.body().length()).build(), start);
				}
				catch (IOException ex) {
					answer.close();
					throw ex;
				}
			}

			@Override
			public void discard(Response answer) {
				answer.close();
			}

		}

	}

}
