package io.idempotency.webflux;

import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

import io.idempotency.http.ByteArrayBuffer;
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

/** Converts bodies of requests and responses. */
final class Bodies {

	/**
	 * The buffer size of a server. Spring's multipart parser recurses for each part in
	 * one buffer.
	 */
	private static final int SLICE = 8 * 1024;

	/**
	 * Keeps parts in memory. The size of the body was already checked, so files are not
	 * needed.
	 */
	private static final DefaultPartHttpMessageReader IN_MEMORY = new DefaultPartHttpMessageReader();

	static {
		IN_MEMORY.setMaxInMemorySize(-1);
	}

	private Bodies() {
	}

	/**
	 * Reads the parts without files and without another thread, in the order of the
	 * request.
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
		ByteArrayBuffer body = new ByteArrayBuffer();
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

	private static void write(ByteArrayBuffer body, String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		body.write(bytes, 0, bytes.length);
	}

	/** Copies the bytes of a buffer and releases the buffer. */
	static void move(DataBuffer buffer, ByteArrayBuffer bytes) {
		try {
			bytes.write(buffer.readableByteCount(), buffer::read);
		}
		finally {
			DataBufferUtils.release(buffer);
		}
	}

	/** Writes bytes as the whole body of a response. */
	static Mono<Void> write(ServerHttpResponse response, ByteBuffer bytes) {
		response.getHeaders().setContentLength(bytes.remaining());
		return response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(copy(bytes))));
	}

	/** Returns bytes in buffers of the size that a server uses. */
	static Flux<DataBuffer> slices(ByteBuffer bytes) {
		int size = bytes.remaining();
		return Flux.range(0, (size + SLICE - 1) / SLICE).map((index) -> {
			int from = index * SLICE;
			byte[] slice = new byte[Math.min(SLICE, size - from)];
			bytes.duplicate().position(bytes.position() + from).get(slice);
			return DefaultDataBufferFactory.sharedInstance.wrap(slice);
		});
	}

	/** Copies the bytes of a buffer without consuming them. */
	static void peek(DataBuffer buffer, byte[] target, int offset, int length) {
		int position = buffer.readPosition();
		buffer.read(target, offset, length);
		buffer.readPosition(position);
	}

	/** Reads the content of a part. */
	static Mono<byte[]> bytes(Part part) {
		return DataBufferUtils.join(part.content()).map((buffer) -> {
			try {
				byte[] bytes = new byte[buffer.readableByteCount()];
				buffer.read(bytes);
				return bytes;
			}
			finally {
				DataBufferUtils.release(buffer);
			}
		}).defaultIfEmpty(new byte[0]);
	}

	static byte[] copy(@Nullable ByteBuffer bytes) {
		if (bytes == null) {
			return new byte[0];
		}
		byte[] copy = new byte[bytes.remaining()];
		bytes.duplicate().get(copy);
		return copy;
	}

}
