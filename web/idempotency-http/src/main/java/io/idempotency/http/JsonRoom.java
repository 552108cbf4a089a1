package io.idempotency.http;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

import io.idempotency.key.Fingerprint;
import org.jspecify.annotations.Nullable;

/**
 * Where the texts of a thread are read, one after the other: the characters of a text,
 * and the form that it is compared in. Between two texts it holds nothing of either.
 */
final class JsonRoom {

	/** There is room for as many bytes and characters, or more. */
	private static final int LEAST = 2 * 1024;

	/** Larger arrays are not kept for the next text. */
	private static final int MOST = 16 * 1024;

	private static final ThreadLocal<@Nullable JsonRoom> IDLE = new ThreadLocal<>();

	final ByteSink form;

	private final CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();

	private CharBuffer text;

	private @Nullable MessageDigest digest;

	private JsonRoom(int size) {
		this.form = new ByteSink(Math.max(size + size / 4 + 16, LEAST));
		this.text = CharBuffer.allocate(Math.max(size, LEAST));
	}

	/** Gives the room of the thread, which {@link #leave} gives back. */
	static JsonRoom enter(int size) {
		JsonRoom idle = IDLE.get();
		if (idle == null) {
			return new JsonRoom(size);
		}
		IDLE.set(null);
		return idle;
	}

	void leave() {
		if (Math.max(this.form.array().length, this.text.capacity()) <= MOST) {
			this.form.truncate(0);
			Arrays.fill(this.form.array(), (byte) 0);
			Arrays.fill(this.text.array(), 0, this.text.limit(), '\0');
			IDLE.set(this);
		}
	}

	/**
	 * Decodes a body in UTF-8.
	 * @return the text, valid until the room is left; {@code null} if the body is in
	 * another charset
	 */
	@Nullable CharBuffer decode(ByteBuffer body) {
		if (this.text.capacity() < body.remaining()) {
			this.text = CharBuffer.allocate(body.remaining());
		}
		this.text.clear();
		boolean utf8 = !this.decoder.reset().decode(body.duplicate(), this.text, true).isError();
		this.text.flip();
		return utf8 ? this.text : null;
	}

	MessageDigest digest() {
		if (this.digest == null) {
			this.digest = Fingerprint.sha256();
		}
		return this.digest;
	}

}
