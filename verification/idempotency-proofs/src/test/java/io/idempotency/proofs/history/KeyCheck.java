package io.idempotency.proofs.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.idempotency.proofs.history.Call.Reply;
import io.idempotency.proofs.history.Run.CallOutcome;
import org.jspecify.annotations.Nullable;

/** Holds all rules against the history of one key. */
final class KeyCheck {

	/** PostgreSQL writes within three times its {@code wal_writer_delay} of 200 ms. */
	private static final long ATTACHED_WITHIN = 1_000_000;

	private final KeyHistory key;

	private final History history;

	private final Excuses excuses;

	private final List<Violation> violations = new ArrayList<>();

	private final List<TakeOver> takeOvers = new ArrayList<>();

	private final List<Run> lateRuns = new ArrayList<>();

	KeyCheck(KeyHistory key, History history, Excuses excuses) {
		this.key = key;
		this.history = history;
		this.excuses = excuses;
	}

	List<Violation> violations() {
		return this.violations;
	}

	List<TakeOver> takeOvers() {
		return this.takeOvers;
	}

	List<Run> lateRuns() {
		return this.lateRuns;
	}

	void check() {
		checkRuns();
		this.key.calls().forEach(this::checkAnswer);
		checkKept();
		checkReplays();
		checkEffects();
		if (!this.key.calls().get(this.key.calls().size() - 1).isFinal()) {
			Call last = this.key.calls().get(this.key.calls().size() - 1);
			violated(Rule.ENDLESS, last.sent(), last.answered(), "the last call was " + last);
		}
	}

	private void violated(Rule rule, long from, long to, String what) {
		this.violations.add(new Violation(rule, this.key.key(), from, to, what));
	}

	/**
	 * Looks at each run and the next one. Of three runs the first has lost its claim to
	 * the second if it was allowed to.
	 */
	private void checkRuns() {
		if (this.key.operation() == Operation.JOIN) {
			return; // a run that does not commit has done nothing
		}
		for (int i = 1; i < this.key.runs().size(); i++) {
			checkNext(this.key.runs().get(i - 1), this.key.runs().get(i));
		}
	}

	private void checkNext(Run owner, Run next) {
		boolean lockHasEnded = this.key.operation() == Operation.LOCK && owner.end() <= next.start();
		if (owner.failedBefore(next.start()) || lockHasEnded) {
			return;
		}
		if (this.excuses.beginsLate(next)) {
			this.lateRuns.add(next);
			return;
		}
		FaultKind cause = this.excuses.loss(owner, next.start());
		if (cause == null || !this.key.operation().runsAgain()) {
			violated(Rule.DOUBLE_RUN, owner.start(), next.start(), next + " after " + owner);
			return;
		}
		this.takeOvers.add(new TakeOver(owner, next, cause));
		// An owner begins with more than two thirds of its lease to go, if nothing held
		// it
		// up.
		if (next.start() - owner.start() < this.history.lease() * 3 / 5
				&& this.excuses.isCalm(owner.node(), owner.start() - this.history.lease(), owner.start())) {
			violated(Rule.EARLY, owner.start(), next.start(), next + " after " + owner);
		}
	}

	private void checkAnswer(Call call) {
		Reply reply = call.answer();
		if (reply == null) {
			return;
		}
		if (reply.isSuccess()) {
			checkSuccess(call, reply);
		}
		else {
			checkRejection(call, reply);
		}
	}

	private void checkSuccess(Call call, Reply reply) {
		Run run = this.history.runs().get(reply.run());
		boolean mine = reply.key().equals(call.key()) && (run == null || run.key().equals(call.key()));
		boolean same = !call.operation().compares() || reply.variant().equals(call.variant());
		if (!mine || !same) {
			violated(Rule.FOREIGN, call.sent(), call.answered(), call + " got the answer of " + run);
		}
		else if (run == null || run.ending() != CallOutcome.DONE || !run.digest().equals(reply.body())
				|| run.end() > call.answered()) {
			violated(Rule.UNTRUE, call.sent(), call.answered(), call + " got what was not returned by " + run);
		}
		else if (reply.replayed() && !call.operation().replays()) {
			violated(Rule.UNTRUE, call.sent(), call.answered(), call + " got a replay");
		}
	}

	private void checkRejection(Call call, Reply reply) {
		boolean hasReason = switch (reply.code()) {
			case "in-progress", "duplicate" ->
				this.key.calls().stream().anyMatch((other) -> other != call && other.sent() < call.answered());
			case "outcome-unknown" -> call.operation() == Operation.REJECT && isTroubled(call);
			case "result-unavailable" -> call.operation() == Operation.JOIN && isTroubled(call);
			case "key-reused" -> call.operation().compares()
					&& this.key.calls().stream().anyMatch((other) -> !other.variant().equals(call.variant()));
			case "store-unavailable" -> true; // counted by the report
			// A run that has failed says so by itself. A Tomcat that ends between its two
			// looks at that reads no headers, misses Host, and rejects the request.
			default ->
				reply.status() == 500 || reply.status() == 400 && this.excuses.isEnding(call.sent(), call.answered());
		};
		if (!hasReason) {
			violated(Rule.REJECTED, call.sent(), call.answered(), call.toString());
		}
	}

	/** Whether an earlier call of the key may have been abandoned. */
	private boolean isTroubled(Call call) {
		return !this.excuses.isQuiet(this.key.calls().get(0).sent(), call.answered());
	}

	/** What the store has for sure stays there. */
	private void checkKept() {
		if (!this.key.operation().replays()) {
			return;
		}
		for (Map.Entry<Run, Long> kept : kept().entrySet()) {
			Run run = kept.getKey();
			long since = kept.getValue();
			this.key.runs()
				.stream()
				.filter((other) -> other.start() > since && !this.excuses.beginsLate(other))
				.forEach((other) -> violated(Rule.LOST, run.start(), other.start(),
						other + " after the result of " + run));
			this.key.calls()
				.stream()
				.filter((call) -> call.sent() > since && contradicts(call, run, since))
				.forEach((call) -> violated(Rule.LOST, run.start(), call.answered(),
						call + " after the result of " + run));
		}
	}

	private boolean contradicts(Call call, Run run, long since) {
		Reply reply = call.answer();
		if (reply == null) {
			return false;
		}
		if (reply.isSuccess()) {
			return !reply.run().equals(run.id());
		}
		return switch (reply.code()) {
			// A master replays what its replica does not have yet; the owner, which has
			// not been told that it counts, brings it to the next master.
			case "in-progress" -> !this.excuses.hasFailedOver(since - this.history.lease(), call.answered());
			case "result-unavailable" -> !mayLoseItsAnswer(run, since);
			case "outcome-unknown", "duplicate" -> true;
			case "key-reused" -> call.variant().equals(run.variant());
			default -> false;
		};
	}

	/**
	 * The answer of joined work is attached after the commit, and does not wait for the
	 * disk: a crash of the server just then may take it back, and not the work.
	 */
	private boolean mayLoseItsAnswer(Run run, long since) {
		return run.operation() == Operation.JOIN && this.excuses.hasCrashed(run.end(), since + ATTACHED_WITHIN);
	}

	/** The runs whose results are in the store, and since when. */
	private Map<Run, Long> kept() {
		Map<Run, Long> kept = new HashMap<>();
		for (Call call : this.key.calls()) {
			Reply reply = call.answer();
			Run run = (reply != null && reply.isSuccess()) ? this.history.runs().get(reply.run()) : null;
			if (run != null && reply != null && (reply.replayed() || isKeptByItsOwner(run, call))) {
				kept.merge(run, call.answered(), Math::min);
			}
		}
		return kept;
	}

	/**
	 * An answer leaves after its record was completed, if the store was there. An owner
	 * that has lost its claim answers, too.
	 */
	private boolean isKeptByItsOwner(Run run, Call call) {
		return this.excuses.isCalm(run.node(), run.start() - 2 * this.history.lease(), call.answered()) && this.key
			.runs()
			.stream()
			.noneMatch((other) -> other != run && other.start() < call.answered() && !other.failedBefore(run.start()));
	}

	private void checkReplays() {
		@Nullable Call first = null;
		Map<String, String> answers = new HashMap<>();
		for (Call call : this.key.calls()) {
			Reply reply = call.answer();
			if (reply == null || !reply.isSuccess()) {
				continue;
			}
			String before = answers.putIfAbsent(reply.run(), reply.whole());
			if (before != null && !before.equals(reply.whole())) {
				violated(Rule.DIFFERENT, this.key.calls().get(0).sent(), call.answered(), call + " of one run");
			}
			if (reply.replayed()) {
				first = (first != null) ? first : call;
				Reply expected = first.answer();
				if (expected != null && !expected.run().equals(reply.run())) {
					violated(Rule.DIFFERENT, first.sent(), call.answered(), call + " and " + first);
				}
			}
		}
	}

	private void checkEffects() {
		if (this.key.operation() != Operation.JOIN) {
			return;
		}
		Set<String> committed = new HashSet<>(this.key.effects());
		long first = this.key.calls().get(0).sent();
		if (this.key.effects().size() > 1) {
			violated(Rule.DOUBLE_EFFECT, first, first, "committed " + this.key.effects());
		}
		for (Call call : this.key.calls()) {
			Reply reply = call.answer();
			if (reply != null && reply.isSuccess() && !committed.contains(reply.run())) {
				violated(Rule.DOUBLE_EFFECT, call.sent(), call.answered(), call + " was answered and not committed");
			}
		}
	}

}
