package io.idempotency.proofs.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Lines of heads. */
final class Headers {

	/** What changes how the rest of the connection is read, or whether there is one. */
	static final List<String> WILD = List.of("Transfer-Encoding: gzip", "Transfer-Encoding: identity",
			"Connection: close", "Connection: Upgrade", "Upgrade: websocket", "Expect: 100-continue",
			"Expect: the-worst", "No colon at all", "Space before : colon", ": no name", "X-Folded: a\r\n b",
			"X-Null: a\0b", "X-(: a", "X-Bare-Cr: a\rb", "Host: second", "X-Huge: " + "h".repeat(9000),
			"Content-Length: 3");

	private static final List<String> OTHERS = List.of("Range: bytes=0-1", "Range: bytes=2-3", "Range: bytes=9-1",
			"Range: \u00ff", "If-Match: \"a\"", "If-Match: *", "If-None-Match: *", "If-None-Match: \"a", "If-Range: x",
			"If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT", "If-Modified-Since: never",
			"If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT", "X-Forwarded-For: 1.2.3.4, \"[::1]\"",
			"X-Forwarded-Host: a,b", "X-Forwarded-Proto: gopher", "X-Forwarded-Port: -1", "X-Forwarded-Prefix: /p",
			"Forwarded: for=\"[2001:db8::1]\";proto=x;host=\"", "Accept: */*", "Accept: application/json",
			"Accept: text/html;q=0.1, nonsense", "Accept: image/png", "Accept-Encoding: gzip", "Accept-Charset: utf-7",
			"Accept-Language: tlh, *;q=2", "Cookie: JSESSIONID=\"; a=b; =; \u00e4", "Content-Encoding: gzip",
			"Content-Language: de", "X-HTTP-Method-Override: DELETE", "Origin: http://elsewhere", "Origin: null",
			"X-Empty:", "x-MIXED: 1", "X-Latin: \u00fc\u00ff", "X-Tabs: \t a \t", "Idempotent-Replayed: true",
			"Cache-Control: no-cache, \"", "Pragma: no-cache", "Date: tomorrow", "TE: trailers", "Via: 1.1 x",
			"Content-Disposition: form-data");

	private static final List<String> CALLERS = List.of("Authorization: Basic YWxpY2U6ZGVtbw==",
			"Authorization: Basic Ym9iOmRlbW8=", "authorization: basic Ym9iOmRlbW8=",
			"Authorization: Basic d3Jvbmc6d3Jvbmc=", "Authorization: Basic %%%", "Authorization: Bearer x.y.z",
			"Authorization:", "Authorization: Basic");

	private static final List<String> GOOD_KEYS = List.of("%s", "%s", "%s", "\"%s\"", "\"%s\"", "\"%s\";a=1;b=?0; c",
			"\"%s\\\\x\"", "\"%s\\\"y\"", "  %s  ", "%s!#$&'*+-./:<=>?@[]^_`{|}~");

	private static final List<String> BAD_KEYS = List.of("", " ", "\"\"", "%s, %s", "\"%s\", \"%s\"", "\"%s", "%s\"",
			"%s;b", "\"a %s\"", "%s b", "\"%s\" tail", "\"%s\\q\"", "\"%s\\", "%s\u00fc", "%s\u00c3\u00bc",
			"\"%s\u0080\"", "%s\u0001", "\"%s\u007f\"", "\"%s\";Bad=1", "\"%s\";", "\"%s\";a=", "\"%s\";a=\"", ":%s:;",
			"(\"%s\")", "%s" + "k".repeat(300), "\"%s" + "\\\\".repeat(300) + "\"", "%s\t%s", "\u00ff\u00fe%s", ",",
			";", "\\", "\"%s\";a=1.", "\"%s\";a=:YQ==:;b=:Y", "%s\0");

	private Headers() {
	}

	static List<String> lines(Random random) {
		List<String> lines = new ArrayList<>(key(random));
		if (random.nextInt(6) == 0) {
			lines.add(pick(CALLERS, random));
		}
		for (int more = random.nextInt(6); more > 3; more--) {
			lines.add(pick(OTHERS, random));
		}
		if (random.nextInt(40) == 0) {
			lines.add(pick(WILD, random));
		}
		return lines;
	}

	private static List<String> key(Random random) {
		int kind = random.nextInt(100);
		if (kind < 70) {
			return List.of("Idempotency-Key: " + fill(pick(GOOD_KEYS, random), random));
		}
		if (kind < 76) {
			return List.of("idempotency-key:" + FuzzRequest.TOKEN);
		}
		if (kind < 82) {
			return List.of();
		}
		if (kind < 85) {
			String key = "Idempotency-Key: " + fill("%s", random);
			return List.of(key, random.nextBoolean() ? key : "Idempotency-Key: " + fill("%s", random));
		}
		return List.of("Idempotency-Key: " + fill(pick(BAD_KEYS, random), random));
	}

	private static String fill(String form, Random random) {
		return form.replace("%s", FuzzRequest.KEY_SPACE + random.nextInt(3));
	}

	static String other(Random random) {
		return pick(OTHERS, random);
	}

	static String caller(Random random) {
		return pick(CALLERS, random);
	}

	static <T> T pick(List<T> list, Random random) {
		return list.get(random.nextInt(list.size()));
	}

}
