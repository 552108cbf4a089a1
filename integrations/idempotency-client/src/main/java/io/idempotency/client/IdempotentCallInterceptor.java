package io.idempotency.client;

import java.io.IOException;
import java.io.InputStream;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Sends a key with each call of a {@code RestClient} or {@code RestTemplate}, and repeats
 * a call whose response was lost: {@code builder.requestInterceptor(idempotentCalls)}.
 * {@link IdempotentCalls} configures which calls are repeated. Thread-safe.
 * <p>
 * Add this interceptor behind all others. On Spring Framework 6.2 the interceptors behind
 * it see the first attempt only. Spring buffers the body of the request in memory for
 * interceptors, so that every attempt sends the same bytes.
 * <p>
 * The interceptor waits on the caller's thread. When that thread is interrupted, the call
 * is not repeated any more. The caller gets the last response or {@link IOException}, or
 * a new {@link IOException} if the thread was waiting for the next attempt. The thread
 * stays interrupted.
 *
 * @since 0.1.0
 * @see IdempotencyKeys
 */
public final class IdempotentCallInterceptor implements ClientHttpRequestInterceptor {

	private final IdempotentCalls calls;

	private final BlockingCaller sender;

	/**
	 * Creates an interceptor.
	 * @param calls the configuration of keys and retries
	 */
	public IdempotentCallInterceptor(IdempotentCalls calls) {
		this(calls, Timing.SYSTEM);
	}

	IdempotentCallInterceptor(IdempotentCalls calls, Timing timing) {
		this.calls = calls;
		this.sender = new BlockingCaller(calls, timing);
	}

	@Override
	public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		HttpHeaders headers = request.getHeaders();
		if (headers.getFirst(this.calls.header()) == null) {
			String key = this.calls.keyFor(request.getMethod().name(), request.getURI(), IdempotencyKeys.current());
			if (key == null) {
				return execution.execute(request, body);
			}
			headers.set(this.calls.header(), key);
		}
		return this.sender.send(new SpringExchange(request, body, execution));
	}

	/** A request of RestClient or RestTemplate. */
	private record SpringExchange(HttpRequest request, byte[] bytes,
			ClientHttpRequestExecution execution) implements BlockingCaller.Exchange<ClientHttpResponse> {

		@Override
		public ClientHttpResponse send() throws IOException {
			return this.execution.execute(this.request, this.bytes);
		}

		@Override
		public ResponseHead head(ClientHttpResponse response) throws IOException {
			HttpHeaders headers = response.getHeaders();
			return new ResponseHead(response.getStatusCode().value(), headers.getContentLength(), headers::getFirst);
		}

		@Override
		public InputStream body(ClientHttpResponse response) throws IOException {
			return response.getBody();
		}

		@Override
		public ClientHttpResponse withBody(ClientHttpResponse response, InputStream body) {
			return new BufferedClientResponse(response, body);
		}

		@Override
		public void discard(ClientHttpResponse response) {
			response.close();
		}

	}

	/** A response whose body has arrived. */
	private record BufferedClientResponse(ClientHttpResponse response, InputStream body) implements ClientHttpResponse {

		@Override
		public HttpStatusCode getStatusCode() throws IOException {
			return this.response.getStatusCode();
		}

		@Override
		public String getStatusText() throws IOException {
			return this.response.getStatusText();
		}

		@Override
		public HttpHeaders getHeaders() {
			return this.response.getHeaders();
		}

		@Override
		public InputStream getBody() {
			return this.body;
		}

		@Override
		public void close() {
			this.response.close();
		}

	}

}
