package io.idempotency.proofs.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a history has shown, as Markdown, and the history of a key. */
final class Report {

	private final History history;

	private final Verdict verdict;

	Report(History history, Verdict verdict) {
		this.history = history;
		this.verdict = verdict;
	}

	/** The tables that a page of the documentation shows. */
	String markdown(String title, String circumstances) {
		List<String> lines = new ArrayList<>(List.of("### " + title, "", circumstances, ""));
		lines.add(summary());
		lines.add("");
		lines.addAll(faults());
		lines.add("");
		lines.addAll(rules());
		lines.add("");
		if (!this.verdict.lateRuns().isEmpty()) {
			lines.add(String.format(
					"Runs that began when their process had just stood still, beside their successors: %d.",
					this.verdict.lateRuns().size()));
			lines.add("");
		}
		return String.join("\n", lines);
	}

	private String summary() {
		List<Call> calls = this.history.calls();
		long keys = calls.stream().map(Call::key).distinct().count();
		return String.format(
				"%,d calls with %,d keys: %,d first answers, %,d replays, %,d rejections of duplicates (409), %,d of other requests "
						+ "(422), %,d of an absent store (503), %,d failures of the work, %,d without an answer. %,d runs.",
				calls.size(), keys, count((reply) -> reply.isSuccess() && !reply.replayed()),
				count((reply) -> reply.isSuccess() && reply.replayed()), count((reply) -> reply.status() == 409),
				count((reply) -> reply.status() == 422), count((reply) -> reply.status() == 503),
				count((reply) -> reply.status() == 500), calls.stream().filter((call) -> call.answer() == null).count(),
				this.history.runs().size());
	}

	private long count(Predicate<Call.Reply> which) {
		return this.history.calls()
			.stream()
			.map(Call::answer)
			.filter((reply) -> reply != null && which.test(reply))
			.count();
	}

	private List<String> faults() {
		List<String> lines = new ArrayList<>(
				List.of("| fault | times | take-overs that it allowed | of them done twice |", "|---|---|---|---|"));
		Map<FaultKind, List<Fault>> faults = this.history.faults().stream().collect(Collectors.groupingBy(Fault::kind));
		for (FaultKind kind : FaultKind.values()) {
			if (faults.containsKey(kind)) {
				List<TakeOver> takeOvers = this.verdict.takeOvers()
					.stream()
					.filter((takeOver) -> takeOver.cause() == kind)
					.toList();
				lines.add(String.format("| %s | %,d | %,d | %,d |", kind.text(), faults.get(kind).size(),
						takeOvers.size(), takeOvers.stream().filter(TakeOver::isDoneTwice).count()));
			}
		}
		return lines;
	}

	private List<String> rules() {
		boolean forgets = this.history.forgets();
		List<String> lines = new ArrayList<>(
				List.of("| must not be | promised | seen |" + (forgets ? " seen of what a fail-over has lost |" : ""),
						"|---|---|---|" + (forgets ? "---|" : "")));
		for (Rule rule : Rule.values()) {
			lines.add(String.format("| %s | 0 | %,d |", rule.text(), keys(this.verdict.violations(), rule))
					+ (forgets ? String.format(" %,d keys |", keys(this.verdict.forgotten(), rule)) : ""));
		}
		return lines;
	}

	private static long keys(List<Violation> violations, Rule rule) {
		return violations.stream()
			.filter((violation) -> violation.rule() == rule)
			.map(Violation::key)
			.distinct()
			.count();
	}

	/** All that was written down about a key, and what went wrong meanwhile. */
	String story(Violation violation) {
		List<Event> events = new ArrayList<>();
		this.history.calls().stream().filter((call) -> call.key().equals(violation.key())).forEach((call) -> {
			events.add(new Event(call.sent(), "call " + call));
			events.add(new Event(call.answered(), "answer to " + call.id() + ": " + call.answer()));
		});
		this.history.runs().values().stream().filter((run) -> run.key().equals(violation.key())).forEach((run) -> {
			events.add(new Event(run.start(), "start " + run));
			if (run.end() != Run.NEVER) {
				events.add(new Event(run.end(), run.ending() + " " + run.id()));
			}
		});
		long first = events.stream().mapToLong(Event::time).min().orElse(0);
		long last = events.stream().mapToLong(Event::time).max().orElse(0);
		this.history.faults()
			.stream()
			.filter((fault) -> fault.overlaps(first - 2 * this.history.lease(), last))
			.flatMap((fault) -> Stream.of(new Event(fault.from(), fault.kind() + " begins: " + fault.target()),
					new Event(fault.to(), fault.kind() + " is over: " + fault.target())))
			.forEach(events::add);
		return violation + "\n"
				+ events.stream()
					.sorted(Comparator.comparingLong(Event::time))
					.map((event) -> String.format("%12.3f ms  %s", (event.time() - first) / 1e3, event.text()))
					.collect(Collectors.joining("\n"))
				+ "\n";
	}

	private record Event(long time, String text) {
	}

}
