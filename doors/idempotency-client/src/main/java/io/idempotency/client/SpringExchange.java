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
