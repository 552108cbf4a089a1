package io.idempotency.webflux;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.http.ByteArrayBuffer;
import io.idempotency.http.CachedBody.ContentType;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerResponse;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.util.ClassUtils;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;

/**
 * A request whose body is recorded, up to a limit, when it is first read. After that the
 * body can be read again.
 */
final class CachedRequest extends ServerHttpRequestDecorator {

	private final ServerWebExchange exchange;

	private final long limit;

	private final Mono<Void> clientGone;

	private volatile boolean caching;

	private volatile boolean tooLarge;

	private volatile @Nullable ByteBuffer body;

	private volatile @Nullable List<Map.Entry<Part, byte[]>> parts;

	/**
	 * Creates the request.
	 * @param exchange the exchange that provides the body
	 * @param limit the maximum number of recorded bytes
	 * @param clientGone completes when the client disconnected
	 */
	CachedRequest(ServerWebExchange exchange, long limit, Mono<Void> clientGone) {
		super(exchange.getRequest());
		this.exchange = exchange;
		this.limit = limit;
		this.clientGone = clientGone.then(Mono.<Void>error(() -> incomplete(null))).cache();
	}

	/** Returns a recording of another exchange's body. */
	CachedRequest of(ServerWebExchange other) {
		return new CachedRequest(other, this.limit, this.clientGone.onErrorComplete());
	}

	/** Returns the recording request that a request wraps, or {@code null}. */
	static @Nullable CachedRequest of(ServerHttpRequest request) {
		ServerHttpRequest current = request;
		while (current instanceof ServerHttpRequestDecorator decorator) {
			if (decorator instanceof CachedRequest cached) {
				return cached;
			}
			current = decorator.getDelegate();
		}
		return null;
	}

	/** Records the body from now on. */
	void cache() {
		this.caching = true;
	}

	boolean isCaching() {
		return this.caching;
	}

	/**
	 * Reads the whole body.
	 * @param operation the name of the operation
	 * @return the body; fails if it exceeds the limit or is incomplete
	 */
	Mono<ByteBuffer> read(String operation) {
		return Mono.defer(() -> {
			this.caching = true;
			if (this.tooLarge || getHeaders().getContentLength() > this.limit) {
				return Mono.error(tooLarge(operation));
			}
			Mono<Boolean> content = (this.body != null) ? Mono.empty() : getBody().map((buffer) -> {
				// A subscriber may release a discarded buffer, so it is released here.
				DataBufferUtils.release(buffer);
				return this.tooLarge;
			}).takeUntil(Boolean::booleanValue).then(Mono.empty());
			return content.then(Mono.defer(() -> {
				ByteBuffer read = this.body;
				return (read != null) ? readParts().thenReturn(read) : Mono.error(tooLarge(operation));
			}));
		});
	}

	/** Reads the parts before they can be written to files. */
	private Mono<Void> readParts() {
		boolean multipart = ContentType.of(getHeaders().getFirst(HttpHeaders.CONTENT_TYPE)) == ContentType.MULTIPART;
		return (this.parts != null || !multipart) ? Mono.empty()
				: Bodies.parts(this)
					.concatMap((part) -> Bodies.bytes(part).map((bytes) -> Map.entry(part, bytes)))
					.collectList()
					.doOnNext((all) -> this.parts = all)
					.then();
	}

	/** Returns the parts of a multipart form. */
	List<Map.Entry<Part, byte[]>> parts() {
		List<Map.Entry<Part, byte[]>> read = this.parts;
		return (read != null) ? read : List.of();
	}

	/** Rejects a body of at least the given size if it exceeds the limit. */
	void requireSize(long size, String operation) {
		if (size > this.limit) {
			throw tooLarge(operation);
		}
	}

	private IdempotencyBodyTooLargeException tooLarge(String operation) {
		return new IdempotencyBodyTooLargeException(operation, this.limit);
	}

	@Override
	public Flux<DataBuffer> getBody() {
		return Flux.defer(() -> {
			ByteBuffer known = this.body;
			if (known != null) {
				return Bodies.slices(known);
			}
			return this.caching ? recorded() : checked();
		});
	}

	/**
	 * Returns the body of the server, which can be read once. It ends with an error if
	 * the client disconnects.
	 */
	private Flux<DataBuffer> checked() {
		AtomicLong read = new AtomicLong();
		return whole(getDelegate().getBody().doOnNext((buffer) -> read.addAndGet(buffer.readableByteCount())),
				read::get);
	}

	private <T> Flux<T> whole(Flux<T> content, LongSupplier read) {
		return content.takeUntilOther(this.clientGone)
			.concatWith(Flux.defer(() -> isIncomplete(read.getAsLong()) ? Flux.error(incomplete(null)) : Flux.empty()));
	}

	private boolean isIncomplete(long read) {
		return read < getHeaders().getContentLength()
				|| Netty.PRESENT && Netty.hasResponded(this.exchange.getResponse());
	}

	/** Reads a form that can be read only once. */
	Mono<MultiValueMap<String, String>> form() {
		return whole(this.exchange.getFormData().flux(), () -> Long.MAX_VALUE).singleOrEmpty()
			.filter((fields) -> !fields.isEmpty()
					|| ContentType.of(getHeaders().getFirst(HttpHeaders.CONTENT_TYPE)) != ContentType.FORM
					|| !isIncomplete(0))
			.switchIfEmpty(Mono.error(() -> incomplete(null)));
	}

	private Flux<DataBuffer> recorded() {
		Recording recording = new Recording();
		return getDelegate().getBody()
			.doOnNext(recording::add)
			.concatWith(Flux.defer(recording::ended))
			// Netty rejects a second reader.
			.onErrorResume(IllegalStateException.class, (rejected) -> readBefore(rejected));
	}

	/**
	 * Restores the body of a form that other code read before, such as a CSRF filter. The
	 * exchange still has its fields.
	 */
	private Flux<DataBuffer> readBefore(@Nullable Throwable rejected) {
		long declared = getHeaders().getContentLength();
		Mono<ByteBuffer> left = switch (ContentType.of(getHeaders().getFirst(HttpHeaders.CONTENT_TYPE))) {
			case FORM -> this.exchange.getFormData().map((fields) -> Bodies.form(fields, charset()));
			case MULTIPART -> this.exchange.getMultipartData().flatMap(this::multipart);
			case JSON, OTHER -> Mono.empty();
		};
		boolean missing = declared > 0 || rejected != null;
		return left.filter(ByteBuffer::hasRemaining)
			.switchIfEmpty(missing ? Mono.error(() -> incomplete(rejected)) : Mono.just(ByteBuffer.allocate(0)))
			.flatMapMany((bytes) -> {
				this.tooLarge = bytes.remaining() > this.limit;
				this.body = this.tooLarge ? null : bytes;
				return Bodies.slices(bytes);
			});
	}

	private Mono<ByteBuffer> multipart(MultiValueMap<String, Part> all) {
		MediaType type = getHeaders().getContentType();
		String boundary = (type != null) ? type.getParameter("boundary") : null;
		return Flux.fromStream(all.values().stream().flatMap(List::stream))
			.concatMap((part) -> Bodies.bytes(part).map((bytes) -> Map.entry(part.headers(), bytes)))
			.collectList()
			.map((known) -> Bodies.multipart(known, String.valueOf(boundary).replace("\"", "")));
	}

	private Throwable incomplete(@Nullable Throwable rejected) {
		return (rejected == null) ? new IOException("The client disconnected before its body was read")
				: new GuardMisconfiguredException("The body of the request cannot be read, because other code read it "
						+ "before. Pass on a request whose body can be read again (a ServerHttpRequestDecorator)",
						rejected);
	}

	/** Returns the charset of the request. */
	Charset charset() {
		MediaType type = getHeaders().getContentType();
		Charset charset = (type != null) ? type.getCharset() : null;
		return (charset != null) ? charset : StandardCharsets.UTF_8;
	}

	/** Loaded only if Reactor Netty is present. */
	private static final class Netty {

		private static final boolean PRESENT = ClassUtils.isPresent("reactor.netty.http.server.HttpServerResponse",
				CachedRequest.class.getClassLoader());

		/**
		 * Returns whether the server responded itself because the body is malformed. In
		 * that case Netty ends the body as if it were complete.
		 */
		static boolean hasResponded(ServerHttpResponse response) {
			try {
				return !response.isCommitted()
						&& ServerHttpResponseDecorator.getNativeResponse(response) instanceof HttpServerResponse server
						&& server.hasSentHeaders();
			}
			catch (IllegalArgumentException | IllegalStateException ex) {
				// A mock response, for example, has no native response.
				return false;
			}
		}

	}

	/** Records the body while it is read. */
	private final class Recording {

		private final ByteArrayBuffer bytes = new ByteArrayBuffer();

		private long size;

		void add(DataBuffer buffer) {
			int count = buffer.readableByteCount();
			this.size += count;
			if (this.size > CachedRequest.this.limit) {
				CachedRequest.this.tooLarge = true;
			}
			else {
				this.bytes.write(count, (target, offset, length) -> Bodies.peek(buffer, target, offset, length));
			}
		}

		/**
		 * Handles the end of the body. A server may report an end although the client
		 * disconnected.
		 */
		Flux<DataBuffer> ended() {
			if (this.size == 0 && getHeaders().getContentLength() != 0 && !isIncomplete(Long.MAX_VALUE)) {
				return readBefore(null);
			}
			if (isIncomplete(this.size)) {
				return Flux.error(incomplete(null));
			}
			if (!CachedRequest.this.tooLarge) {
				CachedRequest.this.body = this.bytes.toBuffer();
			}
			return Flux.empty();
		}

	}

}
