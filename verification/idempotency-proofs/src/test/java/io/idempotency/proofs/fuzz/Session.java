package io.idempotency.proofs.fuzz;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.proofs.fuzz.Connection.Answer;
import org.jspecify.annotations.Nullable;

/**
 * Requests that meet each other under keys of their own, and what must be true of every
 * answer.
 */
final class Session {

	/** The rejections of the library, and the status of each. */
	private static final Map<String, Integer> REJECTIONS = Map.of("key-missing", 400, "key-invalid", 400,
			"token-unknown", 400, "key-reused", 422, "in-progress", 409, "duplicate", 409, "result-unavailable", 409,
			"outcome-unknown", 409, "body-too-large", 413);

	private static final AtomicLong NUMBERS = new AtomicLong();

	/**
	 * One answer of so many, and each failure, is compared with that of the handler
	 * without a guard.
	 */
	private static final int COMPARED = 6;

	private final Connections connections;

	private final Tally tally;

	private final String name = "s" + NUMBERS.incrementAndGet();

	private final List<Sent> sent = new ArrayList<>();

	private @Nullable String token;

	Session(Connections connections, Tally tally) {
		this.connections = connections;
		this.tally = tally;
	}

	/**
	 * Sends everything.
	 * @return how many requests there were
	 * @throws Violation if an answer is not as it must be
	 */
	int run(List<Step> steps) throws IOException {
		List<FuzzRequest> requests = new ArrayList<>();
		for (Step step : steps) {
			FuzzRequest raw = step.request(requests);
			int base = step.isAgain(requests) ? step.of() % requests.size() : -1;
			requests.add(raw);
			send(raw, step, requests.size() - 1, base);
		}
		return this.sent.size();
	}

	private void send(FuzzRequest raw, Step step, int number, int base) throws IOException {
		FuzzRequest request = raw.resolve(this.name + "-", raw.needsToken() ? token() : "");
		int first = this.sent.size();
		List<String> ids = new ArrayList<>();
		for (int copy = 0; copy < step.copies(); copy++) {
			ids.add(this.name + "." + (first + copy));
		}
		List<@Nullable Answer> answers = this.connections.exchange(request, true, ids);
		for (int copy = 0; copy < ids.size(); copy++) {
			this.sent.add(new Sent(request, number, ids.get(copy), answers.get(copy)));
		}
		List<Sent> together = this.sent.subList(first, this.sent.size());
		for (Sent one : together) {
			check(one);
		}
		requireOneRun(together);
		if (base >= 0 && (step.change() == Step.Change.SAME || step.change() == Step.Change.REFRAMED)) {
			requireReplay(together, base);
		}
	}

	private String token() throws IOException {
		if (this.token == null) {
			this.token = this.connections.issueToken(this.name).replaceAll(".*\"token\":\"([^\"]+)\".*", "$1");
		}
		return this.token;
	}

	private void check(Sent one) throws IOException {
		Answer answer = one.answer;
		if (answer == null) {
			this.tally.count("no answer");
			return;
		}
		this.tally.count((answer.isReplayed() ? "replayed " : "answered ") + answer.status());
		if (answer.isRejection()) {
			checkRejection(one, answer);
		}
		else if (answer.isReplayed()) {
			checkReplay(one, answer);
		}
		else if (answer.status() >= 500 || this.sent.size() % COMPARED == 0) {
			compareWithPlain(one, answer);
		}
	}

	private void checkRejection(Sent one, Answer answer) {
		if (one.request.method().equals("HEAD")) {
			this.tally.count("rejected HEAD");
			return;
		}
		String code = answer.text().replaceAll("(?s).*\"code\":\"([^\"]*)\".*", "$1");
		this.tally.count("rejected " + code);
		if (!Integer.valueOf(answer.status()).equals(REJECTIONS.get(code))
				|| !"application/problem+json".equals(answer.header("Content-Type"))
				|| !answer.text().contains("\"type\":\"urn:idempotency:" + code + "\"")
				|| JsonValue.read(new String(answer.body(), StandardCharsets.ISO_8859_1)) == null) {
			throw violation("rejection", one, "is not one that the library may give");
		}
		if (answer.status() == 409 && code.equals("in-progress") == (answer.header("Retry-After") == null)) {
			throw violation("rejection", one, "has Retry-After where it should not, or not where it should");
		}
	}

	private void checkReplay(Sent one, Answer answer) throws IOException {
		String ran = answer.header("X-Ran");
		Sent first = this.sent.stream().filter((sent) -> sent.id.equals(ran)).findFirst().orElse(null);
		if (first == null) {
			throw violation("replay of nothing", one, "is a replay of what this session has not sent");
		}
		if (!SameRequest.isSameHead(first.request, one.request)) {
			throw violation("replay of another request", one, "was the answer to\n" + first);
		}
		if (!SameRequest.isSameBody(first.request, one.request)) {
			if (!SameRequest.isUpToTheContainer(first.request, one.request)
					|| !received(first.request).equals(received(one.request))) {
				throw violation("replay of another body", one, "was the answer to\n" + first);
			}
			this.tally.count("replayed by what the container makes of a form");
		}
		if (first.answer != null
				&& (first.answer.status() != answer.status() || !Arrays.equals(first.answer.body(), answer.body()))) {
			throw violation("other answer", one, "is no replay of that to\n" + first);
		}
	}

	/** What a handler gets of the body, whatever the order of its fields. */
	private String received(FuzzRequest request) throws IOException {
		FuzzRequest form = new FuzzRequest(Target.FORM, request.method(), request.id(), "", request.headers(),
				request.type(), request.body(),
				(request.framing() == Framing.HANG_UP) ? Framing.LENGTH : request.framing());
		Answer answer = this.connections.exchange(form, false, "?");
		return (answer != null) ? String.valueOf(answer.header("X-Received")) : "nothing";
	}

	/** The guard must not change what the handler receives, nor what it answers. */
	private void compareWithPlain(Sent one, Answer answer) throws IOException {
		Answer plain = this.connections.exchange(one.request, false, one.id);
		this.tally.count("compared");
		if (plain == null && !one.request.isClean()) {
			// Of a connection that breaks off the answer may be lost.
			return;
		}
		if (plain == null) {
			throw violation("answer", one, "would have been none without the guard");
		}
		boolean broken = !one.request.isClean() || SameRequest.hasBrokenParameters(one.request);
		if (broken && answer.status() < 500 && answer.status() != plain.status()) {
			// The guard has to read what the handler may leave unread.
			return;
		}
		if (plain.status() != answer.status()) {
			throw violation((answer.status() >= 500) ? "5xx" : "other status", one,
					"would be without the guard " + plain);
		}
		if (SameRequest.isBrokenForm(one.request)) {
			this.tally.count("broken forms");
			return;
		}
		if (!String.valueOf(plain.header("X-Received")).equals(String.valueOf(answer.header("X-Received")))) {
			throw violation("other input", one, "would be without the guard " + plain);
		}
	}

	private void requireOneRun(List<Sent> together) {
		if (together.stream().filter((sent) -> sent.isResult() && sent.hasRun()).count() > 1) {
			throw violation("ran twice", together.get(0), "and the requests beside it: " + together);
		}
	}

	/** A request whose result was kept, and the same once more. */
	private void requireReplay(List<Sent> again, int base) {
		Sent first = this.sent.stream().filter((sent) -> sent.step == base).findFirst().orElse(null);
		for (Sent one : again) {
			if (first != null && first.isResult() && one.answer != null && one.request.isClean()) {
				// By the framing differs whether the size of a form is known, and what
				// a container leaves of broken parts.
				boolean framed = one.request.framing() != first.request.framing()
						&& (one.answer.status() == 413 || SameRequest.isMultipart(one.request));
				if (!one.answer.isReplayed() && !framed) {
					throw violation("no replay", one, "should replay the answer to\n" + first);
				}
				this.tally.count("replayed as it must be");
			}
		}
	}

	private static Violation violation(String rule, Sent one, String problem) {
		return new Violation(rule + " at " + one.request.target(), "the answer to\n" + one + "\n" + problem);
	}

	/**
	 * A request that was sent.
	 *
	 * @param request the request
	 * @param step in which step
	 * @param id what it was called
	 * @param answer what came back
	 */
	private record Sent(FuzzRequest request, int step, String id, @Nullable Answer answer) {

		boolean hasRun() {
			return this.answer != null && this.id.equals(this.answer.header("X-Ran"));
		}

		/** Whether the answer is the result of a guarded call, and duplicates get it. */
		boolean isResult() {
			return this.answer != null && "true".equals(this.answer.header("X-Guarded")) && this.answer.isKept()
					&& this.request.target().replays() && this.request.isClean();
		}

		@Override
		public String toString() {
			return "--- " + this.id + " " + this.request + "\n--- answered " + this.answer;
		}

	}

}
