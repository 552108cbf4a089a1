package io.idempotency.http;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;

import io.idempotency.Internal;
import io.idempotency.key.Fingerprint;
import org.jspecify.annotations.Nullable;

/**
 * One part of a multipart form.
 *
 * @param fileName the file name, {@code null} for a plain field
 * @param contentType the content type, {@code null} if it has none
 * @param size how many bytes it has
 * @param content opens its bytes
 * @hidden
 */
@Internal
public record RequestPart(String name, @Nullable String fileName, @Nullable String contentType, long size,
		Content content) {

	private static final int CHUNK = 8192;

	byte[] digest() throws IOException {
		MessageDigest digest = Fingerprint.sha256();
		byte[] chunk = new byte[CHUNK];
		try (InputStream stream = this.content.open()) {
			int read = stream.read(chunk);
			while (read >= 0) {
				digest.update(chunk, 0, read);
				read = stream.read(chunk);
			}
		}
		return digest.digest();
	}

	/**
	 * Opens the bytes of a part; may be done more than once.
	 *
	 * @hidden
	 */
	@FunctionalInterface
	public interface Content {

		InputStream open() throws IOException;

	}

}
