package io.idempotency.http;

import java.util.Locale;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * The kind of body that a request has, as far as a fingerprint distinguishes it.
 *
 * @hidden
 */
@Internal
public enum ContentType {

	/** JSON, or a format that is JSON by its suffix. */
	JSON,

	/** A URL-encoded form. */
	FORM,

	/** A body in parts, such as a multipart form. */
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

	/** Returns whether a container may read the body for its parameters. */
	public boolean isForm() {
		return this == FORM || this == MULTIPART;
	}

	/**
	 * Returns the charset of the body of a request. The content type comes first, because
	 * message converters use it. The encoding of the request may only be a default that a
	 * filter forces on every request, as Boot's filter does.
	 * @param header the content type
	 * @return the name, {@code null} if neither of them names one
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
	 * @param charset the charset of the request, {@code null} if it names none
	 */
	public static boolean isUtf8(@Nullable String charset) {
		return charset == null || charset.equalsIgnoreCase("UTF-8") || charset.equalsIgnoreCase("UTF8");
	}

}
