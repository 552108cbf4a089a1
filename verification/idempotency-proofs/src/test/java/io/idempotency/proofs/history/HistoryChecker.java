package io.idempotency.proofs.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Decides whether a history keeps what is promised. It knows the state table of the
 * protocol and nothing of the library.
 */
final class HistoryChecker {

	private final History history;

	private final Excuses excuses;

	HistoryChecker(History history) {
		this.history = history;
		this.excuses = new Excuses(history);
	}

	Verdict check() {
		List<Violation> violations = new ArrayList<>();
		List<Violation> forgotten = new ArrayList<>();
		List<TakeOver> takeOvers = new ArrayList<>();
		List<Run> lateRuns = new ArrayList<>();
		for (KeyHistory key : keys().values()) {
			KeyCheck check = new KeyCheck(key, this.history, this.excuses);
			check.check();
			takeOvers.addAll(check.takeOvers());
			lateRuns.addAll(check.lateRuns());
			check.violations().forEach((violation) -> (isForgotten(violation) ? forgotten : violations).add(violation));
		}
		return new Verdict(violations, forgotten, takeOvers, lateRuns);
	}

	/** Only what was there before a fail-over can be lost by it. */
	private boolean isForgotten(Violation violation) {
		return this.history.forgets() && this.history.faults()
			.stream()
			.anyMatch(
					(fault) -> fault.kind() == FaultKind.FAIL_OVER && fault.overlaps(violation.from(), violation.to()));
	}

	private Map<String, KeyHistory> keys() {
		Map<String, KeyHistory> keys = new TreeMap<>();
		for (Call call : this.history.calls()) {
			keys.computeIfAbsent(call.key(), this::newKey).calls().add(call);
		}
		for (Run run : this.history.runs().values()) {
			KeyHistory key = keys.get(run.key());
			if (key == null) {
				throw new IllegalStateException("Nobody has called what ran: " + run);
			}
			key.runs().add(run);
		}
		return keys;
	}

	private KeyHistory newKey(String key) {
		return new KeyHistory(key, this.history.effects().getOrDefault(key, List.of()));
	}

}
