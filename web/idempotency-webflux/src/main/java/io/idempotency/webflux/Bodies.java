package io.idempotency.webflux;

import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.Supplier;

import io.idempotency.http.ByteSink;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.ResolvableType;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.codec.multipart.DefaultPartHttpMessageReader;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.MultiValueMap;

/** Reads bodies of requests whole, and writes those of answers. */
final class Bodies {

	/** An announced length costs its sender nothing. */
	private static final int MOST_ANNOUNCED = 8 * 1024;

	/**
	 * A body that was read has passed its own limit: nothing of it needs to be a file.
	 */
	private static final DefaultPartHttpMessageReader IN_MEMORY = new DefaultPartHttpMessageReader();

	static {
		IN_MEMORY.setMaxInMemorySize(-1);
	}

	private Bodies() {
	}

	/**
	 * Reads the body of a request.
	 * @param request the request, whose body nobody has read
	 * @param limit how many bytes it may have
	 * @param tooLarge the failure if there are more of them
	 */
	static Mono<ByteBuffer> read(ServerHttpRequest request, long limit, Supplier<RuntimeException> tooLarge) {
		long announced = request.getHeaders().getContentLength();
		if (announced > limit) {
			return Mono.error(tooLarge);
		}
		return Mono.defer(() -> {
			Reading reading = new Reading((int) Math.min(announced, MOST_ANNOUNCED), limit, tooLarge);
			return request.getBody().takeUntil(reading::ends).then(Mono.fromSupplier(reading::whole));
		});
	}

	/**
	 * Reads the parts without files and without another thread, in the order in which
	 * they were sent.
	 */
	static Flux<Part> parts(ServerHttpRequest request) {
		return IN_MEMORY.read(ResolvableType.forClass(Part.class), request, Map.of());
	}

	/** Writes the fields of a form as a client would. */
	static ByteBuffer form(MultiValueMap<String, String> fields, Charset charset) {
		StringJoiner form = new StringJoiner("&");
		fields.forEach((name, values) -> values.forEach((value) -> {
			String encoded = URLEncoder.encode(name, charset);
			form.add((value != null) ? encoded + "=" + URLEncoder.encode(value, charset) : encoded);
		}));
		return ByteBuffer.wrap(form.toString().getBytes(StandardCharsets.US_ASCII));
	}

	/** Writes parts as a client would. */
	static ByteBuffer multipart(List<Map.Entry<HttpHeaders, byte[]>> parts, String boundary) {
		ByteSink body = new ByteSink();
		for (Map.Entry<HttpHeaders, byte[]> part : parts) {
			StringBuilder head = new StringBuilder("--").append(boundary).append("\r\n");
			part.getKey()
				.forEach((name, values) -> values
					.forEach((value) -> head.append(name).append(": ").append(value).append("\r\n")));
			write(body, head.append("\r\n").toString());
			body.write(part.getValue(), 0, part.getValue().length);
			write(body, "\r\n");
		}
		if (!parts.isEmpty()) {
			write(body, "--" + boundary + "--\r\n");
		}
		return body.toBuffer();
	}

	private static void write(ByteSink body, String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		body.write(bytes, 0, bytes.length);
	}

	/**
	 * Moves the bytes of a buffer, which is released, to others.
	 */
	static void move(DataBuffer buffer, ByteSink bytes) {
		try {
			bytes.write(buffer.readableByteCount(), buffer::read);
		}
		finally {
			DataBufferUtils.release(buffer);
		}
	}

	/** Writes bytes as the whole body of an answer. */
	static Mono<Void> write(ServerHttpResponse response, ByteBuffer bytes) {
		response.getHeaders().setContentLength(bytes.remaining());
		return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(copy(bytes))));
	}

	/** Gives bytes to a reader, which may release the buffer. */
	static DataBuffer buffer(ByteBuffer bytes) {
		return DefaultDataBufferFactory.sharedInstance.wrap(copy(bytes));
	}

	static byte[] copy(@Nullable ByteBuffer bytes) {
		if (bytes == null) {
			return new byte[0];
		}
		byte[] copy = new byte[bytes.remaining()];
		bytes.duplicate().get(copy);
		return copy;
	}

	/** What was read of a body. */
	private static final class Reading {

		private final ByteSink bytes;

		private final long limit;

		private final Supplier<RuntimeException> tooLarge;

		private boolean over;

		Reading(int room, long limit, Supplier<RuntimeException> tooLarge) {
			this.bytes = new ByteSink(room);
			this.limit = limit;
			this.tooLarge = tooLarge;
		}

		boolean ends(DataBuffer buffer) {
			this.over = this.bytes.size() + (long) buffer.readableByteCount() > this.limit;
			if (this.over) {
				DataBufferUtils.release(buffer);
			}
			else {
				move(buffer, this.bytes);
			}
			return this.over;
		}

		ByteBuffer whole() {
			if (this.over) {
				throw this.tooLarge.get();
			}
			return this.bytes.toBuffer();
		}

	}

}
