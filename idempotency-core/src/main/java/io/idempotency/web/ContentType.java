package io.idempotency.web;

import java.util.Locale;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/** What kind of body a request has, as far as a fingerprint cares. */
enum ContentType {

	/** JSON, or a format that is JSON by its suffix. */
	JSON,

	/** A URL-encoded form. */
	FORM,

	/** A form in parts. */
	MULTIPART,

	/** Any other. */
	OTHER;

	static ContentType of(@Nullable String header) {
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

	/**
	 * The charset that the body of a request has by its content type, which is what
	 * message converters go by: what the request says otherwise may be the default that a
	 * filter forces on every request, as Boot's does.
	 * @param request the request
	 * @return the name, {@code null} if nothing tells it
	 */
	static @Nullable String charset(HttpServletRequest request) {
		String header = request.getContentType();
		String[] parameters = (header != null) ? header.split(";") : new String[0];
		for (int i = 1; i < parameters.length; i++) {
			int equals = parameters[i].indexOf('=');
			if (equals > 0 && parameters[i].substring(0, equals).strip().equalsIgnoreCase("charset")) {
				return parameters[i].substring(equals + 1).replace('"', ' ').strip();
			}
		}
		return request.getCharacterEncoding();
	}

	/**
	 * Whether a body is read as UTF-8, which JSON is unless it says otherwise.
	 * @param charset what the request says, {@code null} if it does not
	 */
	static boolean isUtf8(@Nullable String charset) {
		return charset == null || charset.equalsIgnoreCase("UTF-8") || charset.equalsIgnoreCase("UTF8");
	}

}
