package io.idempotency.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.UnsupportedCharsetException;
import java.util.Locale;
import java.util.function.Consumer;

import io.idempotency.Internal;
import io.idempotency.http.JsonTokenReader.MalformedJsonException;
import io.idempotency.interceptor.RequestValues.BodyPointers;
import org.jspecify.annotations.Nullable;

/**
 * A completely read body. A lookup and the JSON comparison share one pass through the
 * body. For the thread that handles the request.
 *
 * @hidden
 */
@Internal
public final class CachedBody {

	private final ByteBuffer bytes;

	private final @Nullable String contentType;

	private final @Nullable String encoding;

	private @Nullable JsonBody json;

	/**
	 * Creates the body.
	 * @param bytes all bytes, not a copy
	 * @param contentType the content type, {@code null} if the request has none
	 * @param encoding the encoding of the request, which may only be a default
	 */
	public CachedBody(ByteBuffer bytes, @Nullable String contentType, @Nullable String encoding) {
		this.bytes = bytes;
		this.contentType = contentType;
		this.encoding = encoding;
	}

	/**
	 * Finds a value.
	 * @param pointer a JSON Pointer (RFC 6901)
	 * @return text, a number or a boolean; {@code null} if the value is absent or null
	 * @throws IllegalArgumentException if the value is an array or an object, or if the
	 * body is malformed
	 */
	public @Nullable Object find(String pointer) {
		if (!this.bytes.hasRemaining() || !BodyPointers.isPointer(pointer)) {
			return null;
		}
		try {
			String charset = ContentType.charset(this.contentType, this.encoding);
			return (charset == null || ContentType.isUtf8(charset)) ? walked(pointer).value()
					: JsonBody.read(Charset.forName(charset).newDecoder().decode(this.bytes.duplicate()), pointer)
						.value();
		}
		catch (CharacterCodingException ex) {
			throw new IllegalArgumentException("The body is not valid text in its charset", ex);
		}
		catch (MalformedJsonException ex) {
			throw new IllegalArgumentException("The body is not valid JSON: " + ex.getMessage());
		}
		catch (IllegalCharsetNameException | UnsupportedCharsetException ex) {
			throw new IllegalArgumentException("The body has an unsupported charset", ex);
		}
	}

	/**
	 * Creates the canonical form in which a JSON body in UTF-8 is compared. If a value
	 * was looked up before, the body is not read again.
	 * @param form receives the form
	 * @return whether the body can be compared by value; otherwise {@code form} is not
	 * called
	 */
	public boolean compare(Consumer<ByteBuffer> form) {
		ByteBuffer known;
		try {
			known = ((this.json != null) ? this.json : JsonBody.read(this.bytes, "")).comparable();
		}
		catch (MalformedJsonException ex) {
			return false;
		}
		if (known != null) {
			form.accept(known);
		}
		return known != null;
	}

	private JsonBody walked(String pointer) throws MalformedJsonException {
		this.json = JsonBody.read(this.bytes, pointer);
		return this.json;
	}

	/**
	 * The kinds of request bodies that a fingerprint distinguishes.
	 *
	 * @hidden
	 */
	public enum ContentType {

		/** JSON, or a format with a JSON suffix. */
		JSON,

		/** A URL-encoded form. */
		FORM,

		/** A body with parts, such as a multipart form. */
		MULTIPART,

		/** Any other body. */
		OTHER;

		public static ContentType of(@Nullable String header) {
			if (header == null) {
				return OTHER;
			}
			int end = header.indexOf(';');
			String type = ((end >= 0) ? header.substring(0, end) : header).strip().toLowerCase(Locale.ROOT);
			if (type.equals("application/json") || type.endsWith("+json")) {
				return JSON;
			}
			if (type.equals("application/x-www-form-urlencoded")) {
				return FORM;
			}
			return type.startsWith("multipart/") ? MULTIPART : OTHER;
		}

		/** Returns whether a container may read the body to determine the parameters. */
		public boolean isForm() {
			return this == FORM || this == MULTIPART;
		}

		/**
		 * Returns the charset of a request body. The content type comes first, because
		 * message converters use it. The encoding of the request may only be a default
		 * that a filter forces on every request, as Spring Boot's filter does.
		 * @param header the content type
		 * @return the name of the charset, {@code null} if it is not specified
		 */
		public static @Nullable String charset(@Nullable String header, @Nullable String encoding) {
			if (header == null || header.indexOf(';') < 0) {
				return encoding;
			}
			String[] parameters = header.split(";");
			for (int i = 1; i < parameters.length; i++) {
				int equals = parameters[i].indexOf('=');
				if (equals > 0 && parameters[i].substring(0, equals).strip().equalsIgnoreCase("charset")) {
					return parameters[i].substring(equals + 1).replace('"', ' ').strip();
				}
			}
			return encoding;
		}

		/**
		 * Returns whether a body is read as UTF-8. JSON without a charset is UTF-8.
		 * @param charset the charset of the request, {@code null} if it is not specified
		 */
		public static boolean isUtf8(@Nullable String charset) {
			return charset == null || charset.equalsIgnoreCase("UTF-8") || charset.equalsIgnoreCase("UTF8");
		}

	}

}
