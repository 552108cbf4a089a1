package io.idempotency.webflux;

import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.http.ByteSink;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.MultiValueMap;

/** Reads bodies of requests whole, and writes those of answers. */
final class Bodies {

	private static final int ROOM = 512;

	private Bodies() {
	}

	/**
	 * Reads the body of a request.
	 * @param request the request, whose body nobody has read
	 * @param limit how many bytes it may have
	 * @return the bytes, empty if there are more of them
	 */
	static Mono<ByteBuffer> read(ServerHttpRequest request, long limit) {
		if (request.getHeaders().getContentLength() > limit) {
			return Mono.empty();
		}
		return Mono.defer(() -> {
			ByteSink bytes = new ByteSink(ROOM);
			AtomicBoolean tooLarge = new AtomicBoolean();
			return request.getBody().takeUntil((buffer) -> {
				try {
					byte[] read = new byte[buffer.readableByteCount()];
					buffer.read(read);
					if (bytes.size() + (long) read.length > limit) {
						tooLarge.set(true);
					}
					else {
						bytes.write(read, 0, read.length);
					}
				}
				finally {
					DataBufferUtils.release(buffer);
				}
				return tooLarge.get();
			}).then(Mono.fromSupplier(() -> tooLarge.get() ? null : bytes.toBuffer()));
		});
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
		ByteSink body = new ByteSink(ROOM);
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

}
