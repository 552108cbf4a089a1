package io.idempotency.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;

import io.idempotency.client.IdempotencyKeys.Intent;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Sends a key with each call of a {@code RestClient} or {@code RestTemplate}, and repeats
 * a call whose answer was lost: {@code builder.requestInterceptor(idempotentCalls)}.
 * {@link IdempotentCalls} says what is repeated. Thread-safe.
 * <p>
 * Add this interceptor behind all others. On Spring Framework 6.2 the interceptors behind
 * it see the first attempt only. Spring holds the body of the request in memory for
 * interceptors, so that every attempt sends the same bytes.
 * <p>
 * The interceptor waits on the caller's thread. When that thread is interrupted, nothing
 * is repeated any more: the caller gets the answer or the {@link IOException} that was
 * there, or an {@link IOException} if the thread was waiting for the next attempt. The
 * thread stays interrupted.
 *
 * @since 0.1.0
 * @see IdempotencyKeys
 */
public final class IdempotentCallInterceptor implements ClientHttpRequestInterceptor {

	private final IdempotentCalls calls;

	private final BlockingCaller sender;

	/**
	 * Creates an interceptor.
	 * @param calls says what gets a key and what is repeated
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
			Intent intent = IdempotencyKeys.current();
			String key = RequestKeys.of(this.calls, request.getMethod().name(), request.getURI(), intent);
			if (key == null) {
				return execution.execute(request, body);
			}
			headers.set(this.calls.header(), key);
		}
		return this.sender.send(new SpringExchange(request, body, execution));
	}

	/** A request of RestClient or RestTemplate. */
	private static final class SpringExchange implements BlockingExchange<ClientHttpResponse> {

		private final HttpRequest request;

		private final byte[] body;

		private final ClientHttpRequestExecution execution;

		SpringExchange(HttpRequest request, byte[] body, ClientHttpRequestExecution execution) {
			this.request = request;
			this.body = body;
			this.execution = execution;
		}

		@Override
		public ClientHttpResponse send() throws IOException {
			return this.execution.execute(this.request, this.body);
		}

		@Override
		public int status(ClientHttpResponse answer) throws IOException {
			return answer.getStatusCode().value();
		}

		@Override
		public @Nullable String header(String name, ClientHttpResponse answer) {
			return answer.getHeaders().getFirst(name);
		}

		@Override
		public long length(ClientHttpResponse answer) {
			return answer.getHeaders().getContentLength();
		}

		@Override
		public Held<ClientHttpResponse> read(ClientHttpResponse answer, int maxSize) throws IOException {
			try {
				InputStream in = answer.getBody();
				byte[] start = in.readNBytes(maxSize);
				// A body that was unpacked on the way may be longer than its header says.
				InputStream held = new ByteArrayInputStream(start);
				InputStream body = (start.length < maxSize) ? held : new SequenceInputStream(held, in);
				return new Held<>(new HeldResponse(answer, body), start);
			}
			catch (IOException ex) {
				answer.close();
				throw ex;
			}
		}

		@Override
		public void discard(ClientHttpResponse answer) {
			answer.close();
		}

		/** An answer whose body has arrived. */
		private static final class HeldResponse implements ClientHttpResponse {

			private final ClientHttpResponse answer;

			private final InputStream body;

			HeldResponse(ClientHttpResponse answer, InputStream body) {
				this.answer = answer;
				this.body = body;
			}

			@Override
			public HttpStatusCode getStatusCode() throws IOException {
				return this.answer.getStatusCode();
			}

			@Override
			public String getStatusText() throws IOException {
				return this.answer.getStatusText();
			}

			@Override
			public HttpHeaders getHeaders() {
				return this.answer.getHeaders();
			}

			@Override
			public InputStream getBody() {
				return this.body;
			}

			@Override
			public void close() {
				this.answer.close();
			}

		}

	}

}
