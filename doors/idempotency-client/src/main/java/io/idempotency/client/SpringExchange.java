package io.idempotency.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpResponse;

/** A request of RestClient or RestTemplate. */
final class SpringExchange implements BlockingExchange<ClientHttpResponse> {

	private final HttpRequest request;

	private final byte[] body;

	private final ClientHttpRequestExecution execution;

	private final int maxBodySize;

	SpringExchange(HttpRequest request, byte[] body, ClientHttpRequestExecution execution, int maxBodySize) {
		this.request = request;
		this.body = body;
		this.execution = execution;
		this.maxBodySize = maxBodySize;
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
	public @Nullable String retryAfter(ClientHttpResponse answer) {
		return answer.getHeaders().getFirst(HttpHeaders.RETRY_AFTER);
	}

	@Override
	public ClientHttpResponse hold(ClientHttpResponse answer) throws IOException {
		long length = answer.getHeaders().getContentLength();
		boolean packed = answer.getHeaders().getFirst(HttpHeaders.CONTENT_ENCODING) != null;
		if (packed || !HeldBody.isWanted(length, this.maxBodySize)) {
			return answer;
		}
		try {
			InputStream in = answer.getBody();
			byte[] start = in.readNBytes(this.maxBodySize);
			HeldBody.requireWhole(start.length, length);
			// A body that was unpacked on the way may be longer than its header says.
			InputStream held = new ByteArrayInputStream(start);
			return new HeldResponse(answer,
					(start.length < this.maxBodySize) ? held : new SequenceInputStream(held, in));
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
