package io.idempotency.client;

import java.io.IOException;
import java.io.InputStream;
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
 * Sends a key with each call of a Feign client, and repeats a call whose response was
 * lost: {@code Feign.builder().addCapability(new IdempotentCallCapability(calls))}.
 * {@link IdempotentCalls} configures which calls are repeated. Thread-safe.
 * <p>
 * Feign's {@link Retryer} would send each of its attempts with a new key, and would
 * repeat a call after any response that has {@code Retry-After}. So this capability
 * prevents that retryer from repeating calls that have a key or get one. Feign's retryer
 * still repeats all other calls.
 * <p>
 * The capability waits on the caller's thread, as {@link IdempotentCallInterceptor} does.
 * {@code AsyncFeign} is not supported.
 *
 * @since 0.1.0
 * @see IdempotencyKeys
 */
public final class IdempotentCallCapability implements Capability {

	private final IdempotentCalls calls;

	private final Timing timing;

	/**
	 * Creates a capability.
	 * @param calls the configuration of keys and retries
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
		return new KeyedFeignClient(client, this.calls, new BlockingCaller(this.calls, this.timing));
	}

	@Override
	public Retryer enrich(Retryer retryer) {
		return new KeylessRetryer(retryer, this.calls);
	}

	private static boolean hasKey(Request request, IdempotentCalls calls) {
		return request.headers().keySet().stream().anyMatch(calls.header()::equalsIgnoreCase);
	}

	/** Feign's retry for the calls without a key. */
	private record KeylessRetryer(Retryer retryer, IdempotentCalls calls) implements Retryer {

		@Override
		public void continueOrPropagate(RetryableException ex) {
			if (this.calls.getKeys(ex.method().name()) || (ex.hasRequest() && hasKey(ex.request(), this.calls))) {
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
	private record KeyedFeignClient(Client client, IdempotentCalls calls, BlockingCaller sender) implements Client {

		@Override
		public Response execute(Request request, Request.Options options) throws IOException {
			if (hasKey(request, this.calls)) {
				return this.sender.send(new FeignExchange(this.client, request, options));
			}
			String key = this.calls.keyFor(request.httpMethod().name(), URI.create(request.url()),
					IdempotencyKeys.current());
			return (key != null) ? this.sender.send(new FeignExchange(this.client, with(key, request), options))
					: this.client.execute(request, options);
		}

		private Request with(String key, Request request) {
			Map<String, Collection<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
			headers.putAll(request.headers());
			headers.put(this.calls.header(), List.of(key));
			return Request.create(request.httpMethod(), request.url(), headers, request.body(), request.charset(),
					request.requestTemplate());
		}

	}

	/** A request of Feign. */
	private record FeignExchange(Client client, Request request,
			Request.Options options) implements BlockingCaller.Exchange<Response> {

		@Override
		public Response send() throws IOException {
			return this.client.execute(this.request, this.options);
		}

		@Override
		public ResponseHead head(Response response) {
			Response.Body body = response.body();
			Integer length = (body != null) ? body.length() : Integer.valueOf(0);
			return new ResponseHead(response.status(), (length != null) ? length : -1,
					(name) -> first(name, response.headers()));
		}

		private static @Nullable String first(String name, Map<String, Collection<String>> headers) {
			return headers.entrySet()
				.stream()
				.filter((header) -> header.getKey().equalsIgnoreCase(name))
				.flatMap((header) -> header.getValue().stream())
				.findFirst()
				.orElse(null);
		}

		@Override
		public InputStream body(Response response) throws IOException {
			return response.body().asInputStream();
		}

		@Override
		public Response withBody(Response response, InputStream body) {
			return response.toBuilder().body(body, response.body().length()).build();
		}

		@Override
		public void discard(Response response) {
			response.close();
		}

	}

}
