package io.idempotency.proofs.fuzz;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

import org.jspecify.annotations.Nullable;

/**
 * A body and what it says it is.
 *
 * @param type the content type, {@code null} for none
 * @param text its bytes, each as one character
 */
record Bodies(@Nullable String type, String text) {

	private static final List<String> JSON_TYPES = List.of("application/json", "application/json", "application/json",
			"application/json;charset=utf-8", "application/json; charset=\"UTF-8\"", "APPLICATION/JSON",
			"application/vnd.shop+json", "application/problem+json;charset=UTF8", "application/json;charset=ISO-8859-1",
			"application/json;charset=UTF-16", "application/json;charset=bogus", "application/json;charset=",
			"application/json;charset=\"", "application/json;charset=x y", "application/json;;", "application/json;a",
			" application/json ", "application/json ; charset = utf-8", "application/json,text/plain",
			"application/*+json", "application/json;charset=UTF-7", "application/json;charset=!", "+json", "json",
			"a/b/c+json");

	private static final List<String> FORM_TYPES = List.of("application/x-www-form-urlencoded",
			"application/x-www-form-urlencoded", "application/x-www-form-urlencoded",
			"application/x-www-form-urlencoded;charset=utf-8", "Application/X-WWW-Form-Urlencoded",
			"application/x-www-form-urlencoded;charset=ISO-8859-1", "application/x-www-form-urlencoded;charset=UTF-16",
			"application/x-www-form-urlencoded;charset=bogus", "application/x-www-form-urlencoded;charset=",
			"application/x-www-form-urlencoded;charset=!", "application/x-www-form-urlencoded;charset=\"utf-8",
			"application/x-www-form-urlencoded;charset=UTF-7", "application/x-www-form-urlencoded;charset=IBM1047",
			"application/x-www-form-urlencoded;charset=x-JISAutoDetect", "application/x-www-form-urlencoded;");

	private static final List<String> MULTIPART_TYPES = List.of("multipart/form-data; boundary=B",
			"multipart/form-data; boundary=B", "multipart/form-data; boundary=\"B\"", "multipart/form-data;boundary=C",
			"multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=B",
			"multipart/related; boundary=B", "multipart/; boundary=B", "Multipart/Form-Data; charset=utf-8; boundary=B",
			"multipart/form-data; boundary=B; charset=bogus", "multipart/form-data; boundary=" + "B".repeat(80));

	private static final List<String> OTHER_TYPES = List.of("text/plain", "text/plain;charset=UTF-8",
			"application/octet-stream", "application/xml", "text/plain;charset=bogus", "nonsense", "/", "a/", ";",
			"*/*", "text/*", "\u00fc/\u00fc", "text/plain; charset=\"", "image/png", "application/cbor",
			"text/event-stream", "application/x-ndjson", "message/http");

	private static final List<String> ODD_JSON = List.of("", " ", "null", "true", "\"a\"", "1e999999999",
			"-1E-999999999", "1" + "0".repeat(1500), "0." + "1".repeat(990), "-0", "01", "1.", ".5", "+1", "NaN",
			"Infinity", "{", "}", "[", "]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "[1,]",
			"{\"a\":1}x", "{\"a\":1}{\"a\":2}", "{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}", "{\"a\":{\"b\":1,\"b\":1}}",
			"{\"key\":\"@K@0\",\"key\":\"@K@1\"}", "{\"key\":1e5}", "{\"key\":[\"@K@0\"]}", "{\"key\":{}}",
			"{\"key\":null}", "{\"key\":\"\"}", "{\"key\":\"@K@0\\u0000\"}", "{\"key\":\"@K@0\\ud800\"}",
			"{\"key\":true,\"k\":\"@K@\"}", "{\"key\":\"@K@" + "k".repeat(300) + "\"}", "{\"key\":\"@K@0\"",
			"[\"@K@0\"]", "{\"\":1}", "{\"~\":1,\"/\":2}", "\"\\ud800\"", "\"\\udc00\\ud800\"",
			"{\"\\ud83d\\ude00\":\"\\ud83d\"}", "\"\u00ed\u00a0\u0080\"", "\u00ef\u00bb\u00bf{\"a\":1}",
			"\u00fe\u00ff\0{\0}", "\u00ff\u00fe{\0}\0", "\0\0\0{\0\0\0}", "{\"a\":\"\u00ff\"}",
			"{\"a\":\"\u00c0\u0080\"}", "{\"a\":\"\u00f4\u0090\u0080\u0080\"}", "{\"a\":\"\t\"}", "{\"a\":\"\\x\"}",
			"{'a':1}", "{a:1}", "// c\n{}", "{/*c*/}", "{\"a\":\"\\u00\"}", "{\"a\":\"\u007f\"}", "\u001e{}", "{}\0",
			"{\"a\":\"\u00ef\u00bf\u00bd\"}", "tru", "nul", "{\"a\" 1}", "{1:1}", "[1 2]",
			"{\"@type\":\"java.lang.Object\"}");

	private static final List<String> ODD_PAIRS = List.of("a=%zz", "a=%", "a=%1", "%=1", "a=%00", "a=%ff", "a=%C3%BC",
			"a=\u00fc", "=", "=1", "a", "&", "a==b", "a=1;b=2", "a=+%2B", "a[]=1", "a.b=1", "key=", "key=@K@2&key=@K@2",
			"key=@K@%00", "a=%u0041", "a=\0", "page=2", "a=%ED%A0%80", "_method=DELETE", "_csrf=1",
			"a=" + "x".repeat(500), "key=@K@" + "k".repeat(300), "\u00fe\u00ff\0a\0=\0001");

	private static final List<String> ODD_PARTS = List.of("Content-Disposition: form-data\r\n\r\nnameless",
			"Content-Disposition: form-data; name=\r\n\r\nx", "Content-Disposition: form-data; name=\"\"\r\n\r\nx",
			"Content-Disposition: attachment; name=\"a\"\r\n\r\nx", "\r\n\r\nno head", "",
			"Content-Disposition: form-data; name=\"a\"",
			"Content-Disposition: form-data; name=\"f\"; filename=\"\"\r\n\r\n",
			"Content-Disposition: form-data; name=\"f\"; filename=\"../..\\x\0.txt\"\r\n\r\nx",
			"Content-Disposition: form-data; name=\"f\"; filename*=UTF-8''%e2%82%ac\r\n\r\nx",
			"Content-Disposition: form-data; name=\"f\"; filename*=bogus''%zz\r\n\r\nx",
			"Content-Disposition: form-data; name=\"f\"; filename=\"=?bogus?Q?=zz?=\"\r\n\r\nx",
			"Content-Disposition: form-data; name=\"f\"; filename=\"=?UTF-8?B?!!!?=\"\r\n\r\nx",
			"Content-Disposition: form-data; name=\"\u00fc\u00ff\"\r\n\r\n\u00ff",
			"Content-Disposition: form-data; name=\"a\"\r\nContent-Type: text/plain; charset=bogus\r\n\r\nx",
			"Content-Disposition: form-data; name=\"a\"\r\nContent-Type: application/json;charset=!\r\n\r\n{}",
			"Content-Disposition: form-data; name=\"a\"\r\nContent-Type: \r\n\r\nx",
			"Content-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==",
			"Content-Disposition: form-data; name=\"a\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\r\n--B2\r\n"
					+ "Content-Disposition: file; filename=\"x\"\r\n\r\nx\r\n--B2--",
			"Content-Disposition: form-data; name=\"a\"\r\nX: " + "y".repeat(600) + "\r\n\r\nx",
			"Content-Disposition: form-data; name=\"a;b\"; name=\"c\"\r\n\r\nx",
			"Content-Disposition: form-data; name=\"key\"\r\n\r\n@K@1");

	private static final String[] NAMES = { "a", "b", "c", "key", "\u00c3\u00bc", "a b", "_", "x".repeat(40) };

	static Bodies of(Target.Like like, Random random) {
		int kind = random.nextInt(20);
		Target.Like chosen = (kind < 12) ? like : Headers.pick(List.of(Target.Like.values()), random);
		return switch (chosen) {
			case JSON -> (kind == 0) ? inOtherCharset(random) : new Bodies(type(JSON_TYPES, random), json(random));
			case FORM -> (random.nextInt(3) > 0) ? new Bodies(type(FORM_TYPES, random), form(random))
					: new Bodies(Headers.pick(MULTIPART_TYPES, random), multipart(random));
			case ANY -> switch (random.nextInt(4)) {
				case 0 -> new Bodies(null, "");
				case 1 -> new Bodies(Headers.pick(OTHER_TYPES, random), bytes(random));
				case 2 -> of(Target.Like.JSON, random);
				default -> of(Target.Like.FORM, random);
			};
		};
	}

	/** Mostly the first, so that handlers take the body. */
	static String type(List<String> types, Random random) {
		return (random.nextInt(3) > 0) ? types.get(0) : Headers.pick(types, random);
	}

	static String anyType(Random random) {
		return Headers.pick(Headers.pick(List.of(JSON_TYPES, FORM_TYPES, MULTIPART_TYPES, OTHER_TYPES), random),
				random);
	}

	static String utf8(String text) {
		return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
	}

	private static Bodies inOtherCharset(Random random) {
		String charset = Headers.pick(List.of("UTF-16", "UTF-16LE", "UTF-32", "IBM1047", "windows-1252"), random);
		String json = new String(json(random).getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
		byte[] bytes = json.getBytes(Charset.forName(charset));
		return new Bodies("application/json;charset=" + charset, new String(bytes, StandardCharsets.ISO_8859_1));
	}

	private static String bytes(Random random) {
		byte[] bytes = new byte[random.nextInt(40)];
		random.nextBytes(bytes);
		return new String(bytes, StandardCharsets.ISO_8859_1);
	}

	static String json(Random random) {
		int kind = random.nextInt(100);
		if (kind < 20) {
			return Headers.pick(ODD_JSON, random);
		}
		if (kind < 23) {
			int depth = Headers.pick(List.of(3, 499, 500, 511, 512, 513, 600, 1001, 5000), random);
			return random.nextBoolean() ? "[".repeat(depth) + "]".repeat(depth - random.nextInt(2))
					: "{\"a\":".repeat(depth) + "1" + "}".repeat(depth);
		}
		if (kind < 24) {
			StringBuilder many = new StringBuilder("{\"key\":\"@K@2\"");
			for (int i = random.nextInt(120); i > 0; i--) {
				many.append(",\"m").append(i).append("\":").append(random.nextInt(9));
			}
			return many.append('}').toString();
		}
		StringBuilder json = new StringBuilder("{\"key\":\"@K@").append(random.nextInt(3)).append('"');
		for (int i = random.nextInt(4); i > 0; i--) {
			json.append(space(random)).append(",\"").append(name(random)).append("\":");
			value(json, random, 0);
		}
		String text = json.append('}').toString();
		return (kind < 95) ? text : text.substring(0, random.nextInt(text.length()));
	}

	private static void value(StringBuilder json, Random random, int depth) {
		json.append(space(random));
		switch (random.nextInt((depth < 4) ? 8 : 6)) {
			case 0 -> json.append(random.nextInt(3));
			case 1 -> json.append(Headers.pick(List.of("1.0", "1.00", "1e2", "1E2", "100", "-0", "0", "-0.0",
					"9007199254740993", "123456789012345678901234567890", "0.1e-7"), random));
			case 2 -> json.append(Headers.pick(List.of("true", "false", "null"), random));
			case 3, 4 -> json.append('"').append(name(random)).append('"');
			case 5 -> json.append("\"").append("z".repeat(random.nextInt(300))).append("\"");
			case 6 -> {
				json.append('[');
				for (int i = random.nextInt(4); i > 0; i--) {
					value(json, random, depth + 1);
					json.append((i > 1) ? "," : "");
				}
				json.append(']');
			}
			default -> {
				json.append('{');
				for (int i = random.nextInt(4); i > 0; i--) {
					json.append('"').append(name(random)).append(i).append("\":");
					value(json, random, depth + 1);
					json.append((i > 1) ? "," : "");
				}
				json.append('}');
			}
		}
	}

	private static String space(Random random) {
		return (random.nextInt(6) == 0) ? Headers.pick(List.of(" ", "\n\t", "\r\n  "), random) : "";
	}

	private static String name(Random random) {
		return Headers.pick(List.of("a", "b", "\\u0061", "A", "\u00c3\u00bc", "\\u00fc", "\\ud83d\\ude00",
				"\u00f0\u009f\u0098\u0080", "\\n", "\\\"", "/", "\\/", ""), random);
	}

	static String form(Random random) {
		int kind = random.nextInt(100);
		if (kind < 2) {
			return "a=1&".repeat(Headers.pick(List.of(998, 999, 1000, 1001, 3000), random)) + "key=@K@1";
		}
		StringBuilder form = new StringBuilder("key=@K@").append(random.nextInt(3));
		for (int i = random.nextInt(4); i > 0; i--) {
			form.append('&');
			if (random.nextInt(4) == 0) {
				form.append(Headers.pick(ODD_PAIRS, random));
			}
			else {
				form.append("abc".charAt(random.nextInt(3)))
					.append('=')
					.append(Headers.pick(List.of("1", "2", "%31", "x+y", "x%20y", "%C3%BC", "\u00c3\u00bc", ""),
							random));
			}
		}
		return form.toString();
	}

	private static String multipart(Random random) {
		StringBuilder body = new StringBuilder((random.nextInt(10) == 0) ? "preamble\r\n" : "");
		for (int i = (random.nextInt(50) == 0) ? 60 : random.nextInt(4); i > 0; i--) {
			body.append("--B\r\n").append((random.nextInt(4) == 0) ? Headers.pick(ODD_PARTS, random) : part(random));
			body.append("\r\n");
		}
		return body
			.append(Headers.pick(List.of("--B--\r\n", "--B--\r\n", "--B--\r\n", "--B--", "--B", "", "--C--\r\n",
					"--B--\r\nepilogue", "--B--garbage"), random))
			.toString();
	}

	private static String part(Random random) {
		StringBuilder part = new StringBuilder("Content-Disposition: form-data; name=\"")
			.append(NAMES[random.nextInt(NAMES.length)])
			.append('"');
		if (random.nextBoolean()) {
			part.append("; filename=\"")
				.append(Headers.pick(List.of("a.txt", "b.txt", "\u00c3\u00bc.txt", "a\\\"b"), random));
			part.append("\"\r\nContent-Type: ").append(Headers.pick(List.of("text/plain", "image/png", "x"), random));
		}
		return part.append("\r\n\r\n")
			.append(Headers.pick(List.of("one", "two", "", "\u00ff\0\r\n-", "--B", "@K@0", "x".repeat(700)), random))
			.toString();
	}

}
