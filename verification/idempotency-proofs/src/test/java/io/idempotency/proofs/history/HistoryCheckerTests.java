package io.idempotency.proofs.history;

import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Histories made by hand: what is wrong is found, and what is allowed is not. Their times
 * are milliseconds, and the lease is three seconds.
 */
class HistoryCheckerTests {

	private static final Pattern TIME = Pattern.compile("(?m)^(\\w+ \\d+)");

	/** A call, its run, its answer, a replay. */
	private static final String GOOD = """
			call 1000 c1 k A replay
			start 1010 one-1-1 k A replay one-1
			done 1020 one-1-1 b1
			answer 1030 c1 201 - fresh one-1-1 k A b1 w1
			call 9000 c2 k A replay
			answer 9010 c2 201 - replay one-1-1 k A b1 w1
			""";

	/** The last word is the key's. */
	private static final String END = """
			call 90000 c9 k A replay
			answer 90010 c9 201 - replay one-1-1 k A b1 w1
			""";

	/** The first owner does not come to its end. */
	private static final String TAKEN_OVER = """
			call 1000 c1 k A replay
			start 1010 one-1-1 k A replay one-1
			silence 2000 c1
			call 4100 c2 k A replay
			start 4200 two-1-1 k A replay two-1
			done 4210 two-1-1 b2
			answer 4220 c2 201 - fresh two-1-1 k A b2 w2
			""";

	/** The first owner comes to its end, late. */
	private static final String DONE_TWICE = TAKEN_OVER + """
			done 6000 one-1-1 b1
			""";

	@ParameterizedTest
	@MethodSource
	void findsWhatIsWrong(Rule rule, String what, String events) {
		assertThat(check("keeps", events).violations()).as(what).extracting(Violation::rule).contains(rule);
	}

	static List<Object[]> findsWhatIsWrong() {
		return List.of(wrong(Rule.DOUBLE_RUN, "a run beside a run that lives", DONE_TWICE),
				wrong(Rule.DOUBLE_RUN, "a run after a run, and nobody was killed", TAKEN_OVER),
				wrong(Rule.DOUBLE_RUN, "another node was killed", TAKEN_OVER + """
						fault 1500 f1 kill two
						mended 1600 f1
						"""), wrong(Rule.DOUBLE_RUN, "the owner was killed before", TAKEN_OVER + """
						fault 800 f1 kill one
						mended 900 f1
						"""), wrong(Rule.DOUBLE_RUN, "the owner stood still for a moment", DONE_TWICE + """
						fault 2000 f1 stop-briefly one
						mended 2700 f1
						"""),
				wrong(Rule.DOUBLE_RUN, "the process ended in peace, with its result",
						DONE_TWICE.replace("done 6000", "done 1100") + """
								fault 1500 f1 terminate one
								mended 1600 f1
								"""),
				wrong(Rule.DOUBLE_RUN, "once", killed(TAKEN_OVER).replace("A replay", "A once")),
				wrong(Rule.DOUBLE_RUN, "reject", killed(TAKEN_OVER).replace("A replay", "A reject")),
				wrong(Rule.DOUBLE_RUN, "two have one lock", DONE_TWICE.replace("A replay", "A lock")),
				wrong(Rule.EARLY, "a dead owner's lease lasted",
						killed(TAKEN_OVER).replace("start 4200", "start 2500")),
				wrong(Rule.LOST, "a run after a replay", GOOD + """
						start 9500 two-1-1 k A replay two-1
						failed 9510 two-1-1
						""" + END),
				wrong(Rule.LOST, "a run after an answer, though its node was killed later",
						killed(GOOD.replace("201 - replay", "201 - fresh")) + """
								start 9500 two-1-1 k A replay two-1
								failed 9510 two-1-1
								""" + END),
				wrong(Rule.LOST, "in progress again", GOOD + """
						call 9500 c3 k A replay
						answer 9510 c3 409 in-progress fresh - - - - -
						""" + END), wrong(Rule.LOST, "reused by the same request", GOOD + """
						call 9400 c3 k B replay
						answer 9410 c3 422 key-reused fresh - - - - -
						call 9500 c4 k A replay
						answer 9510 c4 422 key-reused fresh - - - - -
						""" + END),
				wrong(Rule.LOST, "the answer of joined work, and the server was not killed then", join(GOOD) + """
						effect 99000 k one-1-1
						fault 11000 f1 server-kill all
						mended 11900 f1
						call 12000 c3 k A join
						answer 12010 c3 409 result-unavailable fresh - - - - -
						"""), wrong(Rule.FOREIGN, "the answer of another key", GOOD + """
						call 9500 c3 other A replay
						answer 9510 c3 201 - replay one-1-1 k A b1 w1
						"""), wrong(Rule.FOREIGN, "the answer of another request", GOOD + """
						call 9500 c3 k B replay
						answer 9510 c3 201 - replay one-1-1 k A b1 w1
						"""),
				wrong(Rule.UNTRUE, "nobody ran", GOOD.replace("201 - fresh one-1-1", "201 - fresh one-1-7")),
				wrong(Rule.UNTRUE, "the run has failed", GOOD.replace("done 1020 one-1-1 b1", "failed 1020 one-1-1")),
				wrong(Rule.UNTRUE, "the run has not ended yet", GOOD.replace("done 1020", "done 1040")),
				wrong(Rule.UNTRUE, "the run returned something else",
						GOOD.replace("done 1020 one-1-1 b1", "done 1020 one-1-1 b2")),
				wrong(Rule.UNTRUE, "a lock replays", GOOD.replace("A replay", "A lock")),
				wrong(Rule.DIFFERENT, "a replay with other headers",
						GOOD.replace("replay one-1-1 k A b1 w1", "replay one-1-1 k A b1 w2")),
				wrong(Rule.DIFFERENT, "replays of two runs",
						killed(DONE_TWICE).replace("c2 201 - fresh", "c2 201 - replay") + END),
				wrong(Rule.DOUBLE_EFFECT, "two rows", join(GOOD) + """
						effect 99000 k one-1-1
						effect 99000 k two-1-1
						"""), wrong(Rule.DOUBLE_EFFECT, "no row", join(GOOD)),
				wrong(Rule.REJECTED, "in progress, and nobody else called", """
						call 1000 c1 k A replay
						answer 1010 c1 409 in-progress fresh - - - - -
						"""), wrong(Rule.REJECTED, "outcome unknown, and nothing was wrong", """
						call 100000 c1 k A reject
						answer 100010 c1 409 outcome-unknown fresh - - - - -
						"""), wrong(Rule.REJECTED, "reused, and there was one request", GOOD + """
						call 9500 c4 k A replay
						answer 9510 c4 422 key-reused fresh - - - - -
						"""), wrong(Rule.REJECTED, "not found", """
						call 1000 c1 k A replay
						answer 1010 c1 404 - fresh - - - - -
						"""), wrong(Rule.REJECTED, "a bad request, and no node was told to end", """
						call 1000 c1 k A replay
						answer 1010 c1 400 - fresh - - - - -
						"""), wrong(Rule.ENDLESS, "no answer", """
						call 1000 c1 k A replay
						silence 2000 c1
						"""));
	}

	private static Object[] wrong(Rule rule, String what, String events) {
		return new Object[] { rule, what, events };
	}

	/** The first owner's node is killed while it works, or later. */
	private static String killed(String events) {
		return events + """
				fault 1500 f1 kill one
				mended 1600 f1
				""";
	}

	private static String join(String events) {
		return events.replace("A replay", "A join");
	}

	@ParameterizedTest
	@MethodSource
	void bearsWhatIsAllowed(String what, String events) {
		assertThat(check("keeps", events).violations()).as(what).isEmpty();
	}

	static List<Object[]> bearsWhatIsAllowed() {
		return List.of(allowed("a replay", GOOD), allowed("a Tomcat that ends", GOOD + """
				fault 8900 f1 terminate two
				call 9000 c8 k A replay
				answer 9010 c8 400 - fresh - - - - -
				mended 9100 f1
				""" + END), allowed("a dead owner", killed(TAKEN_OVER)),
				allowed("an owner that died before its result was stored",
						killed(DONE_TWICE.replace("done 6000", "done 1100"))),
				allowed("an owner that stood still", DONE_TWICE + """
						fault 1100 f1 stop-long one
						mended 5900 f1
						"""), allowed("a store that was away", DONE_TWICE + """
						fault 1100 f1 server-kill all
						mended 3900 f1
						"""), allowed("an owner that the machine gave no time", DONE_TWICE + """
						stall 5900 4800000 one
						"""), allowed("a failure", """
						call 1000 c1 k A replay
						start 1010 one-1-1 k A replay one-1
						failed 1020 one-1-1
						answer 1030 c1 500 - fresh - - - - -
						call 1100 c2 k A replay
						start 1110 two-1-1 k A replay two-1
						done 1120 two-1-1 b2
						answer 1130 c2 201 - fresh two-1-1 k A b2 w2
						"""), allowed("one lock after the other", """
						call 1000 c1 k A lock
						start 1010 one-1-1 k A lock one-1
						done 1020 one-1-1 b1
						answer 1030 c1 201 - fresh one-1-1 k A b1 w1
						call 1022 c2 k A lock
						start 1025 two-1-1 k A lock two-1
						done 1040 two-1-1 b2
						answer 1050 c2 201 - fresh two-1-1 k A b2 w2
						"""), allowed("a dead owner that is never followed", killed("""
						call 1000 c1 k A reject
						start 1010 one-1-1 k A reject one-1
						silence 2000 c1
						call 5000 c2 k A reject
						answer 5010 c2 409 outcome-unknown fresh - - - - -
						""")), allowed("a transaction that rolled back", join("""
						call 1000 c1 k A replay
						start 1010 one-1-1 k A replay one-1
						done 1020 one-1-1 b1
						answer 1030 c1 500 - fresh - - - - -
						call 1100 c2 k A replay
						start 1110 two-1-1 k A replay two-1
						done 1120 two-1-1 b2
						answer 1130 c2 201 - fresh two-1-1 k A b2 w2
						effect 99000 k two-1-1
						""")), allowed("an answer of joined work that was attached when the server was killed", join("""
						call 1000 c1 k A replay
						start 1010 one-1-1 k A replay one-1
						done 1020 one-1-1 b1
						answer 1030 c1 201 - fresh one-1-1 k A b1 w1
						fault 1200 f1 server-kill all
						mended 1900 f1
						call 12000 c3 k A replay
						answer 12010 c3 409 result-unavailable fresh - - - - -
						effect 99000 k one-1-1
						""")), allowed("another request", GOOD + """
						call 9500 c3 k B replay
						answer 9510 c3 422 key-reused fresh - - - - -
						"""));
	}

	private static Object[] allowed(String what, String events) {
		return new Object[] { what, events };
	}

	@Test
	void tellsWhichFaultAllowedATakeOver() {
		assertThat(check("keeps", killed(TAKEN_OVER)).takeOvers()).singleElement()
			.satisfies((takeOver) -> assertThat(takeOver.cause()).isEqualTo(FaultKind.KILL))
			.satisfies((takeOver) -> assertThat(takeOver.isDoneTwice()).isFalse());
	}

	@Test
	void countsApartWhatBeganWhenItsProcessHadStoodStill() {
		String late = GOOD + """
				call 3000 c3 k A replay
				start 9500 two-1-1 k A replay two-1
				failed 9510 two-1-1
				fault 4000 f1 stop-long two
				mended 9490 f1
				""" + END;
		assertThat(check("keeps", late).violations()).isEmpty();
		assertThat(check("keeps", late).lateRuns()).hasSize(1);
		assertThat(check("keeps", late.replace("9490", "5500")).violations()).isNotEmpty();
	}

	/** Only in a store that may forget, and only what was there before. */
	@Test
	void countsApartWhatAFailOverHasLost() {
		String lost = GOOD + """
				start 9500 two-1-1 k A replay two-1
				done 9510 two-1-1 b2
				call 9490 c3 k A replay
				answer 9520 c3 201 - fresh two-1-1 k A b2 w2
				""";
		String failOver = """
				fault 9100 f1 fail-over all
				mended 9200 f1
				""";
		assertThat(check("forgets", lost + failOver).violations()).isEmpty();
		assertThat(check("forgets", lost + failOver).forgotten()).isNotEmpty();
		assertThat(check("forgets", lost + failOver.replace("9", "19")).violations()).isNotEmpty();
		assertThat(check("keeps", lost + failOver).violations()).isNotEmpty();
	}

	@Test
	void tellsTheStoryOfAKey() {
		String events = killed(TAKEN_OVER).replace("start 4200", "start 2500");
		History history = history("keeps", events);
		Verdict verdict = new HistoryChecker(history).check();
		assertThat(new Report(history, verdict).story(verdict.violations().get(0))).contains("EARLY k")
			.containsSubsequence("start", "kill begins: one", "start");
		assertThat(new Report(history, verdict).markdown("Redis", "today")).contains("### Redis")
			.contains("| " + FaultKind.KILL.text() + " | 1 | 1 | 0 |")
			.contains("| " + Rule.EARLY.text() + " | 0 | 1 |")
			.contains("| " + Rule.LOST.text() + " | 0 | 0 |");
	}

	private static Verdict check(String promise, String events) {
		return new HistoryChecker(history(promise, events)).check();
	}

	private static History history(String promise, String events) {
		String micros = TIME.matcher("history 0 3000000 " + promise + "\n" + events)
			.replaceAll((event) -> event.group(1) + "000");
		return History.of(micros.lines().toList());
	}

}
