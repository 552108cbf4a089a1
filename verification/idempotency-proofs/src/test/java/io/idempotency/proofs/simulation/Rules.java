package io.idempotency.proofs.simulation;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.RememberedFailureException;
import io.idempotency.StoreFailureMode;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import org.jspecify.annotations.Nullable;

/**
 * What must hold of every history. The rules know what the store was asked and has
 * answered, what the work has done, and what went wrong, and nothing of the engine.
 */
final class Rules {

	private final World world;

	private final Scenario scenario;

	private final List<String> history = new ArrayList<>();

	private final Map<KeyPlan, Ownership> owners = new HashMap<>();

	private final Map<KeyPlan, Set<String>> values = new HashMap<>();

	private final Map<KeyPlan, List<Attempt>> attempts = new HashMap<>();

	private @Nullable String violation;

	Rules(World world, Scenario scenario) {
		this.world = world;
		this.scenario = scenario;
	}

	@Nullable String violation() {
		return this.violation;
	}

	List<String> history() {
		return this.history;
	}

	void violated(String rule) {
		if (this.violation == null) {
			this.violation = rule;
			note("VIOLATED: " + rule);
		}
	}

	private void note(String what) {
		this.history.add(String.format("%8.3f s %s", this.world.now() / 1e9, what));
	}

	boolean isCut(Node node) {
		return this.scenario.events().stream().anyMatch((event) -> event.cuts(node.number(), this.world.now()));
	}

	void begins(Attempt attempt) {
		note(attempt + " is called");
		this.attempts.computeIfAbsent(attempt.call.key(), (key) -> new ArrayList<>()).add(attempt);
	}

	/** The store has answered a claim. */
	void claimed(Attempt attempt, ClaimRequest request, ClaimResult answer) {
		note("claim of " + attempt + ": " + answer.getClass().getSimpleName());
		if (!(answer instanceof ClaimResult.Acquired acquired)) {
			return;
		}
		attempt.granted = true;
		KeyPlan key = attempt.call.key();
		Ownership last = this.owners.get(key);
		if (last != null && last.attempt == attempt && last.fencingToken == acquired.claim().fencingToken()) {
			last.leaseFrom = this.world.now();
			return;
		}
		if (last != null) {
			if (acquired.claim().fencingToken() <= last.fencingToken) {
				violated("the fencing token of " + attempt + " is not larger than the one before");
			}
			if (acquired.claim().abandoned()) {
				takesOver(attempt, last);
			}
		}
		boolean tainted = acquired.claim().abandoned();
		this.owners.put(key, new Ownership(attempt, acquired.claim().fencingToken(), this.world.now(), tainted));
	}

	private void takesOver(Attempt attempt, Ownership last) {
		Attempt owner = last.attempt;
		owner.takenFrom = true;
		// An engine that is closed leaves a write that fails to the lease.
		boolean completing = owner.state == Attempt.State.SUCCEEDED && !owner.completionAnswered
				&& !owner.node.isClosing();
		// A call whose claim got no answer runs unguarded, and gives back what the store
		// has granted.
		boolean loses = owner.guarded && (owner.state == Attempt.State.RUNNING || completing) && !owner.outOfSight;
		if (loses && !isExplained(owner, last.leaseFrom)) {
			violated(attempt + " takes over from " + owner + ", which lives and could have renewed its claim");
		}
	}

	/**
	 * Returns whether something that went wrong kept an owner from renewing its claim.
	 */
	private boolean isExplained(Attempt owner, long from) {
		long now = this.world.now();
		return owner.node.isGone() || owner.node.pausedWithin(from, now) || owner.beatDisturbed >= from
				|| this.scenario.events()
					.stream()
					.anyMatch((event) -> (event.fault() == Fault.CUT || event.fault() == Fault.CLOCK_STEP)
							&& event.endsLeases(owner.node.number(), from, now));
	}

	/** The store has lost the record of a key, so that its calls may run once more. */
	void recordLost(KeyPlan key) {
		note("the record of " + key.options().operation() + " is lost");
		this.owners.remove(key);
		this.attempts.getOrDefault(key, List.of()).forEach((attempt) -> attempt.recordLost = true);
	}

	/** The engine tells the door that its call owns the key. */
	void owns(Attempt attempt) {
		attempt.guarded = true;
		if (!attempt.call.key().mode(IdempotencyMode.REJECT) && isCalm(attempt.node, attempt.leaseFrom)
				&& this.world.now() - attempt.leaseFrom >= attempt.call.key().lease() / 3) {
			violated(attempt + " starts although its first beat is due");
		}
	}

	private boolean isCalm(Node node, long from) {
		return !node.isGone() && !node.pausedWithin(from, this.world.now());
	}

	/** The guarded method begins. */
	void runs(Attempt attempt) {
		note(attempt + " runs" + (attempt.guarded ? "" : " unguarded"));
		KeyPlan key = attempt.call.key();
		attempt.state = Attempt.State.RUNNING;
		if (!attempt.guarded) {
			if (key.options().onStoreFailure() != StoreFailureMode.PROCEED
					|| !attempt.disturbed && !attempt.node.isCutOff()) {
				violated(attempt + " runs unguarded, without a policy and a failure that allow it");
			}
			return;
		}
		for (Attempt other : this.attempts.getOrDefault(key, List.of())) {
			if (other != attempt && other.guarded && !other.recordLost) {
				runsAfter(attempt, other, key);
			}
		}
		if (key.options().recoverable() && isTakeOver(attempt) && found(attempt) != null) {
			violated(attempt + " runs although a result could be looked up");
		}
	}

	private boolean isTakeOver(Attempt attempt) {
		Ownership owner = this.owners.get(attempt.call.key());
		return owner != null && owner.attempt == attempt && owner.abandoned;
	}

	private void runsAfter(Attempt attempt, Attempt other, KeyPlan key) {
		Ownership owner = this.owners.get(key);
		boolean takenOver = owner != null && owner.attempt != attempt || isTakeOver(attempt);
		if (other.state == Attempt.State.RUNNING && !takenOver && !other.takenFrom && !other.node.isGone()) {
			violated(attempt + " runs while " + other + " runs");
		}
		boolean kept = other.state == Attempt.State.SUCCEEDED || other.state == Attempt.State.FAILED
				&& key.options().onFailure() == FailureMode.REMEMBER && key.mode(IdempotencyMode.REPLAY);
		if (kept && !key.mode(IdempotencyMode.LOCK) && !takenOver) {
			violated(attempt + " runs again what " + other + " has done");
		}
		if (kept && other.completionAccepted && !key.mode(IdempotencyMode.LOCK) && owner != null
				&& owner.since > other.completedAt) {
			violated(attempt + " runs again what " + other + " has completed");
		}
	}

	void succeeded(Attempt attempt) {
		note(attempt + " has done its work");
		attempt.state = Attempt.State.SUCCEEDED;
		this.values.computeIfAbsent(attempt.call.key(), (key) -> new TreeSet<>()).add(attempt.value());
	}

	void failed(Attempt attempt) {
		note(attempt + " has failed");
		attempt.state = Attempt.State.FAILED;
	}

	/** Looks up a result of the same request in the business data. */
	@Nullable String found(Attempt attempt) {
		return known(attempt.call.key()).stream()
			.filter((value) -> value.contains(" variant " + attempt.call.variant() + " "))
			.findFirst()
			.orElse(null);
	}

	private Set<String> known(KeyPlan key) {
		return this.values.getOrDefault(key, Set.of());
	}

	/** The engine sends a release. */
	void releases(Attempt attempt) {
		note(attempt + " releases");
		if (attempt.guarded && attempt.state != Attempt.State.FAILED && attempt.state != Attempt.State.NONE) {
			violated(attempt + " is released although its work "
					+ ((attempt.state == Attempt.State.RUNNING) ? "still runs" : "is done"));
		}
		attempt.releaseSent = true;
	}

	void released(Attempt attempt, boolean accepted) {
		note("release of " + attempt + ": " + accepted);
		attempt.releaseArrived = true;
	}

	/** The engine sends a completion. */
	void completes(Attempt attempt, Completion completion) {
		note(attempt + " completes");
		if (attempt.state == Attempt.State.RUNNING || attempt.state == Attempt.State.NONE && attempt.guarded
				&& completion.result() != null && known(attempt.call.key()).isEmpty()) {
			violated(attempt + " is completed before its work is done");
		}
		if (completion.result() != null && completion.result().format().equals("text")
				&& !known(attempt.call.key()).contains(text(completion))) {
			violated(attempt + " stores a result that nobody has returned");
		}
		checkBeat(attempt);
		attempt.completionSent = true;
	}

	private static String text(Completion completion) {
		return (completion.result() != null)
				? new String(completion.result().bytes(), StandardCharsets.UTF_8).substring(1) : "";
	}

	void completed(Attempt attempt, boolean accepted) {
		note("completion of " + attempt + ": " + accepted);
		if (accepted && !attempt.completionAccepted) {
			attempt.completionAccepted = true;
			attempt.completedAt = this.world.now();
		}
	}

	/** The engine sends a renewal. */
	void renews(Attempt attempt) {
		if (attempt.releaseSent) {
			violated(attempt + " is renewed after its release");
		}
		if (attempt.completionAnswered) {
			violated(attempt + " is renewed after its completion");
		}
		checkBeat(attempt);
		attempt.lastBeat = this.world.now();
	}

	/** Checks that a live owner has tried to renew its claim in time. */
	private void checkBeat(Attempt attempt) {
		long silent = this.world.now() - attempt.lastBeat;
		if (attempt.guarded && !attempt.outOfSight && !attempt.lost && this.scenario.timeout() < 0.3
				&& !attempt.call.key().mode(IdempotencyMode.REJECT) && isCalm(attempt.node, attempt.lastBeat)
				&& silent > attempt.call.key().lease() * 0.45 && !attempt.completionAnswered && !attempt.releaseSent) {
			violated(attempt + " has not renewed its claim for " + silent / 1e9 + " s");
		}
	}

	void renewed(Attempt attempt, boolean accepted) {
		note("renewal of " + attempt + ": " + accepted);
		Ownership owner = this.owners.get(attempt.call.key());
		if (accepted && owner != null && owner.attempt == attempt) {
			owner.leaseFrom = this.world.now();
		}
	}

	/** A caller does not wait for its answer any more. */
	void hungUp(Attempt attempt) {
		note(attempt + " hangs up");
	}

	/** A caller has got a value. */
	void answered(Attempt attempt, @Nullable Object value) {
		note(attempt + " gets " + value);
		if (!known(attempt.call.key()).contains(String.valueOf(value))) {
			violated(attempt + " gets a result that nobody has returned: " + value);
		}
		else if (!String.valueOf(value).contains(" variant " + attempt.call.variant() + " ")
				&& attempt.call.key().mode(IdempotencyMode.REPLAY)) {
			violated(attempt + " gets the result of another request: " + value);
		}
	}

	/** A caller has got an exception. */
	void rejected(Attempt attempt, Throwable failure) {
		note(attempt + " gets " + failure.getClass().getSimpleName());
		KeyPlan key = attempt.call.key();
		boolean others = this.attempts.getOrDefault(key, List.of()).size() > 1;
		boolean alone = !others && !attempt.recordLost && (failure instanceof IdempotencyInProgressException
				|| failure instanceof IdempotencyKeyReusedException || failure instanceof IdempotencyDuplicateException
				|| failure instanceof IdempotencyOutcomeUnknownException
				|| failure instanceof IdempotencyResultUnavailableException);
		boolean wronged = alone
				|| failure instanceof IdempotencyStoreUnavailableException && !attempt.disturbed
						&& !attempt.node.isClosing() && !attempt.node.hasRejected() && !attempt.node.isCutOff()
				|| failure instanceof RememberedFailureException && key.options().onFailure() != FailureMode.REMEMBER
				|| failure instanceof IdempotencyKeyReusedException && this.attempts.getOrDefault(key, List.of())
					.stream()
					.allMatch((other) -> other.call.variant() == attempt.call.variant());
		if (wronged) {
			violated(attempt + " is rejected without a reason: " + failure);
		}
	}

	/** Everything has ended, and the key is claimed once more. */
	void ended(KeyPlan key, ClaimResult probe) {
		note("claim at the end: " + probe.getClass().getSimpleName());
		Ownership owner = this.owners.get(key);
		if (probe instanceof ClaimResult.InProgress) {
			violated("the key of " + key.options().operation() + " is in progress for ever");
		}
		boolean abandoned = probe instanceof ClaimResult.Abandoned
				|| probe instanceof ClaimResult.Acquired acquired && acquired.claim().abandoned();
		if (abandoned && owner != null && !owner.abandoned && !owner.attempt.node.isGone() && !owner.attempt.outOfSight
				&& !owner.attempt.disturbed && !owner.attempt.node.isClosing()) {
			violated("the key of " + key.options().operation() + " is abandoned, and nothing went wrong");
		}
		for (Attempt attempt : this.attempts.getOrDefault(key, List.of())) {
			if (attempt.guarded && !attempt.node.isGone() && attempt.state == Attempt.State.SUCCEEDED
					&& !key.mode(IdempotencyMode.REJECT) && !attempt.completionAnswered && !attempt.outOfSight) {
				violated("the result of " + attempt + " was never stored");
			}
			boolean holds = attempt.granted && !attempt.lost && !attempt.takenFrom && !attempt.recordLost;
			if (holds && !attempt.guarded && !attempt.releaseSent && !attempt.node.isGone()
					&& !attempt.node.isClosing()) {
				violated("the claim of " + attempt + ", which nothing runs on, was never given back");
			}
			if (attempt.releaseSent && !attempt.releaseArrived && !attempt.node.isGone()) {
				violated("the release of " + attempt + " never reached the store");
			}
		}
	}

	/** Who has the key, as the store knows it. */
	private static final class Ownership {

		private final Attempt attempt;

		private final long fencingToken;

		private final long since;

		private final boolean abandoned;

		private long leaseFrom;

		Ownership(Attempt attempt, long fencingToken, long since, boolean abandoned) {
			this.attempt = attempt;
			this.fencingToken = fencingToken;
			this.since = since;
			this.leaseFrom = since;
			this.abandoned = abandoned;
		}

	}

}
