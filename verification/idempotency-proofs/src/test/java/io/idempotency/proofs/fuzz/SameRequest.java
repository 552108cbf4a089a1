package io.idempotency.proofs.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Says whether two requests ask for the same, by rules of its own: nothing here comes
 * from the library.
 */
final class SameRequest {

	private static final List<String> CONDITIONS = List.of("If-Match", "If-None-Match", "If-Modified-Since",
			"If-Unmodified-Since", "If-Range");

	private static final Pattern CHARSET = Pattern.compile("(?i)charset\\s*=\\s*\"?([^\";\\s]+)");

	private SameRequest() {
	}

	/** Whether everything but the bodies is the same. */
	static boolean isSameHead(FuzzRequest one, FuzzRequest other) {
		return one.target() == other.target() && one.method().equals(other.method()) && one.id().equals(other.id())
				&& isSameQuery(one.query(), other.query()) && caller(one).equals(caller(other))
				&& CONDITIONS.stream().allMatch((name) -> one.header(name).equals(other.header(name)));
	}

	static boolean isSameBody(FuzzRequest one, FuzzRequest other) {
		String a = body(one);
		String b = body(other);
		if (a.equals(b)) {
			return true;
		}
		if (isJson(one) && isJson(other)) {
			Object value = JsonValue.read(withoutMark(a));
			return value != null && value.equals(JsonValue.read(withoutMark(b)));
		}
		if (isForm(one) && isForm(other)) {
			Map<String, List<String>> fields = fields(a);
			return fields != null && fields.equals(fields(b));
		}
		return false;
	}

	/**
	 * Whether the container decides what is left of a body: it drops what it cannot read
	 * of a form, and of a body in parts what is no field.
	 */
	static boolean isUpToTheContainer(FuzzRequest one, FuzzRequest other) {
		return (isForm(one) && isForm(other)) || isMultipart(one) || isMultipart(other);
	}

	/**
	 * Whether a form cannot be read, or only in a part, or has a field without a name,
	 * which containers drop: a handler that asks for parameters behind the guard, which
	 * has read the form, then has none of them.
	 */
	static boolean isBrokenForm(FuzzRequest request) {
		boolean late = request.target() != Target.FORM && request.target() != Target.FORM_MAP;
		return late && isForm(request)
				&& (isBroken(body(request)) || String.valueOf(request.type()).contains("charset"));
	}

	/**
	 * Whether a container may reject the request as soon as somebody asks for a
	 * parameter, as Tomcat 11 does: the guard asks where the handler may not.
	 */
	static boolean hasBrokenParameters(FuzzRequest request) {
		String query = request.query();
		return (!query.isEmpty() && isBroken(query.substring(1))) || (isForm(request) && isBroken(body(request)));
	}

	/** Malformed, no UTF-8, with a field without a name, or with very many. */
	private static boolean isBroken(String form) {
		Map<String, List<String>> fields = fields(form);
		return fields == null || fields.toString().indexOf('\uFFFD') >= 0 || ("&" + form).contains("&=")
				|| form.chars().filter((c) -> c == '&').count() >= 800;
	}

	/** What the server can see of it. */
	private static String body(FuzzRequest request) {
		return (request.framing() == Framing.TOO_SHORT) ? request.body().substring(0, request.body().length() / 2)
				: request.body();
	}

	private static boolean isSameQuery(String one, String other) {
		Map<String, List<String>> parameters = fields(one.isEmpty() ? "" : one.substring(1));
		// Bytes that are no UTF-8 are equal once they are decoded.
		boolean text = parameters != null && parameters.toString().indexOf('\uFFFD') < 0;
		return one.equals(other) || (text && parameters.equals(fields(other.isEmpty() ? "" : other.substring(1))));
	}

	/** A byte order mark before JSON does not count. */
	private static String withoutMark(String body) {
		return body.startsWith("\uFEFF") ? body.substring(1)
				: body.startsWith("\u00EF\u00BB\u00BF") ? body.substring(3) : body;
	}

	static String caller(FuzzRequest request) {
		// Of several the first counts.
		List<String> lines = request.header("Authorization");
		String credentials = lines.isEmpty() ? "" : lines.get(0).toLowerCase(Locale.ROOT);
		return credentials.equals("basic ywxpy2u6zgvtbw==") ? "alice"
				: credentials.equals("basic ym9iomrlbw8=") ? "bob" : "nobody";
	}

	private static String type(FuzzRequest request) {
		String type = (request.type() != null) ? request.type() : "";
		return type.replaceAll(";.*", "").trim().toLowerCase(Locale.ROOT);
	}

	private static boolean isJson(FuzzRequest request) {
		String type = type(request);
		return (type.equals("application/json") || type.endsWith("+json")) && !hasOtherCharset(request);
	}

	/** A charset that nobody knows counts as none. */
	private static boolean hasOtherCharset(FuzzRequest request) {
		Matcher charset = CHARSET.matcher(String.valueOf(request.type()));
		try {
			return charset.find() && !Charset.forName(charset.group(1)).equals(StandardCharsets.UTF_8);
		}
		catch (IllegalArgumentException ex) {
			return false;
		}
	}

	private static boolean isForm(FuzzRequest request) {
		return type(request).equals("application/x-www-form-urlencoded");
	}

	static boolean isMultipart(FuzzRequest request) {
		return type(request).startsWith("multipart/");
	}

	/** The fields of a form, {@code null} if it is broken. */
	private static @Nullable Map<String, List<String>> fields(String form) {
		Map<String, List<String>> fields = new TreeMap<>();
		for (String pair : form.split("&")) {
			int equals = (pair + "=").indexOf('=');
			String name = decode(pair.substring(0, equals));
			String value = decode(pair.substring(Math.min(pair.length(), equals + 1)));
			if (name == null || value == null) {
				return null;
			}
			if (!pair.isEmpty()) {
				fields.computeIfAbsent(name, (key) -> new ArrayList<>()).add(value);
			}
		}
		return fields;
	}

	private static @Nullable String decode(String text) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (c != '%') {
				bytes.write((c == '+') ? ' ' : c);
				continue;
			}
			int high = (i + 2 < text.length()) ? Character.digit(text.charAt(i + 1), 16) : -1;
			int low = (i + 2 < text.length()) ? Character.digit(text.charAt(i + 2), 16) : -1;
			if (high < 0 || low < 0) {
				return null;
			}
			bytes.write(high * 16 + low);
			i += 2;
		}
		return bytes.toString(StandardCharsets.UTF_8);
	}

}
