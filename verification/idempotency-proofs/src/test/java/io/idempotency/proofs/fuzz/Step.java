package io.idempotency.proofs.fuzz;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * One step of a session: a new request, or one that was sent before, changed or not.
 *
 * @param fresh a new request
 * @param change what becomes of it
 * @param of which of the earlier requests is sent again
 * @param copies how many are sent at the same time
 */
record Step(FuzzRequest fresh, Change change, int of, int copies) {

	private static final List<String> METHODS = List.of("PUT", "PATCH", "DELETE", "GET", "HEAD", "OPTIONS", "TRACE",
			"PROPFIND", "QUERY", "FOO", "post", "CONNECT", "P(ST", "M-SEARCH", "X".repeat(300));

	private static final List<String> IDS = List.of("8", "a%20b", "a;b=c", "7;jsessionid=1", "a%2Fb", "..%2f7", "%zz",
			"%", "\u00fc", "%C3%BC", "%c3%bc", "%ff", "a%00b", "..", ".", "a/b", "", "//", "7/", "%2e%2e", "a%3Bb",
			"a\\b", "a|b", "{7}", "a%25zz", "x".repeat(3000), "7.json", "a+b", "%E2%82%AC", "7;", "7;a=%zz;=;b", "7#f");

	private static final List<String> QUERIES = List.of("?a=1&b=2", "?b=2&a=1", "?a=%31&b=2", "?", "?&&", "?=", "?a",
			"?a=", "?a=%zz", "?a=%", "?a=1&a=2", "?a=2&a=1", "?page=1", "?page=2", "?key=@K@1", "?a=%C3%BC", "?a=%ff",
			"?a=+", "?a=%2B", "?[a]={b}", "?a=1;b=2", "?\u00fc=1", "?a=%00", "?a?b=1", "?a=%u0041",
			"?" + "a=1&".repeat(900), "?" + "a=1&".repeat(1100), "?_method=PUT");

	/** Requests that meet each other. */
	static Arbitrary<List<Step>> sessions() {
		Arbitrary<FuzzRequest> fresh = Arbitraries.of(Target.values()).flatMap(Step::requests);
		Arbitrary<Change> changes = Arbitraries.frequency(Tuple.of(10, Change.FRESH), Tuple.of(6, Change.SAME),
				Tuple.of(2, Change.REFRAMED), Tuple.of(2, Change.REWRITTEN), Tuple.of(3, Change.OTHER_BYTE),
				Tuple.of(2, Change.OTHER_BODY), Tuple.of(1, Change.OTHER_ID), Tuple.of(1, Change.OTHER_QUERY),
				Tuple.of(1, Change.OTHER_METHOD), Tuple.of(1, Change.OTHER_HEADERS), Tuple.of(1, Change.OTHER_TARGET),
				Tuple.of(1, Change.OTHER_CALLER), Tuple.of(1, Change.OTHER_TYPE), Tuple.of(1, Change.ONE_HEADER_MORE));
		Arbitrary<Integer> copies = Arbitraries.frequency(Tuple.of(20, 1), Tuple.of(1, 2), Tuple.of(1, 3));
		return Combinators.combine(fresh, changes, Arbitraries.integers().between(0, 100), copies)
			.as(Step::new)
			.list()
			.ofMinSize(5)
			.ofMaxSize(40);
	}

	private static Arbitrary<FuzzRequest> requests(Target target) {
		Arbitrary<String> methods = mostly("POST", METHODS, 12);
		Arbitrary<String> ids = mostly("7", IDS, 8);
		Arbitrary<String> queries = mostly("", QUERIES, 4);
		Arbitrary<List<String>> headers = Arbitraries.randomValue(Headers::lines);
		Arbitrary<Bodies> bodies = Arbitraries.randomValue((random) -> Bodies.of(target.like, random));
		Arbitrary<Framing> framings = Arbitraries.frequency(Tuple.of(60, Framing.LENGTH), Tuple.of(20, Framing.CHUNKED),
				Tuple.of(4, Framing.ODD_CHUNKS), Tuple.of(1, Framing.TRUNCATED), Tuple.of(1, Framing.OPEN_CHUNKS),
				Tuple.of(1, Framing.BROKEN_CHUNKS), Tuple.of(1, Framing.TOO_SHORT),
				Tuple.of(1, Framing.LENGTH_AND_CHUNKS), Tuple.of(1, Framing.TWO_LENGTHS),
				Tuple.of(1, Framing.NEGATIVE_LENGTH), Tuple.of(1, Framing.HANG_UP));
		return Combinators.combine(methods, ids, queries, headers, bodies, framings)
			.as((method, id, query, lines, body, framing) -> new FuzzRequest(target, method, id, query, lines,
					body.type(), body.text(), framing));
	}

	private static Arbitrary<String> mostly(String usual, List<String> others, int oneIn) {
		return Arbitraries.randomValue((random) -> (random.nextInt(oneIn) > 0) ? usual : Headers.pick(others, random));
	}

	/**
	 * The request of this step.
	 * @param earlier those of the steps before
	 */
	FuzzRequest request(List<FuzzRequest> earlier) {
		return (isAgain(earlier)) ? this.change.of(earlier.get(this.of % earlier.size()), this.fresh) : this.fresh;
	}

	boolean isAgain(List<?> earlier) {
		return this.change != Change.FRESH && !earlier.isEmpty();
	}

	/** What becomes of a request that is sent again. */
	enum Change {

		FRESH, SAME,

		/** The same with another framing. */
		REFRAMED,

		/** Perhaps the same to a reader. */
		REWRITTEN,

		OTHER_BYTE, OTHER_BODY, OTHER_ID, OTHER_QUERY, OTHER_METHOD, OTHER_HEADERS, OTHER_TARGET, OTHER_CALLER,
		OTHER_TYPE, ONE_HEADER_MORE;

		FuzzRequest of(FuzzRequest r, FuzzRequest fresh) {
			Random random = new Random(fresh.hashCode());
			return switch (this) {
				case FRESH -> fresh;
				case SAME -> r;
				case REFRAMED -> new FuzzRequest(r.target(), r.method(), r.id(), r.query(), r.headers(), r.type(),
						r.body(), (r.framing() == Framing.LENGTH) ? Framing.CHUNKED : Framing.LENGTH);
				case REWRITTEN -> rewritten(r, random);
				case OTHER_BYTE -> withBody(r, r.type(), otherByte(r.body(), random));
				case OTHER_BODY -> withBody(r, r.type(), fresh.body());
				case OTHER_ID -> new FuzzRequest(r.target(), r.method(), fresh.id(), r.query(), r.headers(), r.type(),
						r.body(), r.framing());
				case OTHER_QUERY -> new FuzzRequest(r.target(), r.method(), r.id(), fresh.query(), r.headers(),
						r.type(), r.body(), r.framing());
				case OTHER_METHOD -> new FuzzRequest(r.target(), Headers.pick(METHODS, random), r.id(), r.query(),
						r.headers(), r.type(), r.body(), r.framing());
				case OTHER_HEADERS -> new FuzzRequest(r.target(), r.method(), r.id(), r.query(), fresh.headers(),
						r.type(), r.body(), r.framing());
				case OTHER_TARGET -> new FuzzRequest(fresh.target(), r.method(), r.id(), r.query(), r.headers(),
						r.type(), r.body(), r.framing());
				case OTHER_TYPE -> withBody(r, Bodies.anyType(random), r.body());
				case OTHER_CALLER -> withHeader(r, Headers.caller(random));
				case ONE_HEADER_MORE -> withHeader(r, Headers.other(random));
			};
		}

		private static FuzzRequest withBody(FuzzRequest r, @Nullable String type, String body) {
			return new FuzzRequest(r.target(), r.method(), r.id(), r.query(), r.headers(), type, body, r.framing());
		}

		private static FuzzRequest withHeader(FuzzRequest r, String line) {
			List<String> lines = new ArrayList<>(r.headers());
			lines.add(line);
			return new FuzzRequest(r.target(), r.method(), r.id(), r.query(), lines, r.type(), r.body(), r.framing());
		}

		private static String otherByte(String body, Random random) {
			if (body.isEmpty()) {
				return "x";
			}
			int at = random.nextInt(body.length());
			char other = (random.nextInt(3) > 0) ? (char) ('0' + random.nextInt(10)) : (char) random.nextInt(256);
			return body.substring(0, at) + other + body.substring(at + random.nextInt(2));
		}

		private static FuzzRequest rewritten(FuzzRequest r, Random random) {
			if (r.body().startsWith("{")) {
				return withBody(r, r.type(), r.body().replace(",\"", ", \n\"").replace("{\"", "{ \""));
			}
			if (r.body().contains("&")) {
				List<String> pairs = new ArrayList<>(List.of(r.body().split("&")));
				Collections.rotate(pairs, 1 + random.nextInt(2));
				return withBody(r, r.type(), String.join("&", pairs));
			}
			if (r.body().contains("--B") && r.type() != null) {
				return withBody(r, r.type().replace("boundary=B", "boundary=DD"), r.body().replace("--B", "--DD"));
			}
			return withBody(r, r.type(), r.body().replace("1", "1.0"));
		}

	}

}
