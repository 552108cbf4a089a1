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

import feign.Client;
import feign.Request;
import feign.Response;
import org.jspecify.annotations.Nullable;

/** The client of Feign that sends keys. */
final class KeyedFeignClient implements Client {

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
