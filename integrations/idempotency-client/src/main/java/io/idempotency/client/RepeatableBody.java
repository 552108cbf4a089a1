package io.idempotency.client;

import java.io.ByteArrayOutputStream;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.client.reactive.ClientHttpRequest;
import org.springframework.http.client.reactive.ClientHttpRequestDecorator;
import org.springframework.web.reactive.function.BodyInserter;

/**
 * The body of a request of WebClient. The first attempt that writes the body records its
 * bytes on their way, and later attempts send the record. For one call, whose attempts
 * follow each other.
 */
final class RepeatableBody implements BodyInserter<Object, ClientHttpRequest> {

	private final BodyInserter<?, ? super ClientHttpRequest> original;

	private final int maxSize;

	private volatile State state = State.UNTOUCHED;

	private volatile byte @Nullable [] bytes;

	private volatile HttpHeaders headers = new HttpHeaders();

	RepeatableBody(BodyInserter<?, ? super ClientHttpRequest> original, int maxSize) {
		this.original = original;
		this.maxSize = maxSize;
	}

	/** Whether another attempt can send the same bytes. */
	boolean isRepeatable() {
		return this.state != State.BEGUN;
	}

	@Override
	public Mono<Void> insert(ClientHttpRequest request, Context context) {
		byte[] recorded = this.bytes;
		if (recorded == null) {
			return this.original.insert(new Recorder(request), context);
		}
		this.headers.forEach((name, values) -> restore(request.getHeaders(), name, values));
		return request.writeWith(Mono.fromSupplier(() -> request.bufferFactory().wrap(recorded)));
	}

	/**
	 * Restores the headers that describe the body, because the converter makes a new
	 * boundary for the parts of each attempt. Other headers, such as a token, may have
	 * been renewed for this attempt.
	 */
	private static void restore(HttpHeaders headers, String name, List<String> values) {
		boolean ofBody = name.regionMatches(true, 0, "Content-", 0, "Content-".length());
		if (ofBody) {
			headers.set(name, String.join(", ", values));
		}
		else if (headers.getFirst(name) == null) {
			values.forEach((value) -> headers.add(name, value));
		}
	}

	private enum State {

		/** The bytes were not requested yet, so the original can still provide them. */
		UNTOUCHED,

		/** Bytes were sent, and not all of them were recorded. */
		BEGUN,

		/** All bytes were recorded. */
		RECORDED

	}

	private final class Recorder extends ClientHttpRequestDecorator {

		private @Nullable ByteArrayOutputStream record = new ByteArrayOutputStream();

		Recorder(ClientHttpRequest request) {
			super(request);
		}

		@Override
		public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
			HttpHeaders headers = new HttpHeaders();
			getHeaders().forEach((name, values) -> values.forEach((value) -> headers.add(name, value)));
			RepeatableBody.this.headers = headers;
			// Clients determine the length of a Mono before they send it.
			return super.writeWith((body instanceof Mono<? extends DataBuffer> mono)
					? mono.doOnSubscribe((subscription) -> begin()).doOnNext(this::add).doOnSuccess((last) -> end())
					: Flux.from(body)
						.doOnSubscribe((subscription) -> begin())
						.doOnNext(this::add)
						.doOnComplete(this::end));
		}

		@Override
		public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
			return super.writeAndFlushWith(Flux.from(body).doOnSubscribe((subscription) -> begin()));
		}

		private void begin() {
			RepeatableBody.this.state = State.BEGUN;
		}

		private void add(DataBuffer buffer) {
			ByteArrayOutputStream recorded = this.record;
			if (recorded == null || recorded.size() + (long) buffer.readableByteCount() > RepeatableBody.this.maxSize) {
				this.record = null;
				return;
			}
			byte[] copy = new byte[buffer.readableByteCount()];
			int position = buffer.readPosition();
			buffer.read(copy);
			buffer.readPosition(position);
			recorded.write(copy, 0, copy.length);
		}

		private void end() {
			ByteArrayOutputStream recorded = this.record;
			if (recorded != null) {
				RepeatableBody.this.bytes = recorded.toByteArray();
				RepeatableBody.this.state = State.RECORDED;
			}
		}

	}

}
