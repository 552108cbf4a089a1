package io.idempotency.proofs.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoreNotReachedException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** The lines between the nodes and the one store, with what goes wrong on them. */
final class Network {

	private static final long MILLI = 1_000_000;

	private final World world;

	private final Scenario scenario;

	private final IdempotencyStore store;

	private final Rules rules;

	/** The faults that are left out, to find those that matter. */
	private final Set<String> spared;

	private final Map<String, String> injected = new HashMap<>();

	private final Map<Fault, Integer> counts = new EnumMap<>(Fault.class);

	private final Map<ClaimId, Attempt> attempts = new HashMap<>();

	Network(World world, Scenario scenario, IdempotencyStore store, Rules rules, Set<String> spared) {
		this.world = world;
		this.scenario = scenario;
		this.store = store;
		this.rules = rules;
		this.spared = spared;
	}

	/** Returns the faults of messages, by the name that spares them. */
	Map<String, String> injected() {
		return this.injected;
	}

	Map<Fault, Integer> counts() {
		return this.counts;
	}

	Line from(Node node) {
		return new Line(node);
	}

	private Attempt attempt(ClaimId id) {
		Attempt attempt = this.attempts.get(id);
		if (attempt == null) {
			throw new AssertionError("A claim that nobody has made");
		}
		return attempt;
	}

	private @Nullable Fault fault(Attempt attempt, String verb, int count) {
		if (this.world.now() > Simulation.QUIET_AFTER || this.scenario.kinds().isEmpty()
				|| !this.scenario.chance().hits(this.scenario.rate(), "fault", attempt.id(), verb, count)) {
			return null;
		}
		List<Fault> kinds = List.copyOf(this.scenario.kinds()).stream().sorted().toList();
		Fault fault = kinds
			.get((int) this.scenario.chance().between(0, kinds.size(), "kind of", attempt.id(), verb, count));
		String name = attempt.id() + " " + verb + " " + count;
		if (this.spared.contains(name)) {
			return null;
		}
		this.injected.put(name, String.format("%s %s at %.3f s", fault, verb, this.world.now() / 1e9));
		this.counts.merge(fault, 1, Integer::sum);
		return fault;
	}

	/** The store as one node sees it that never blocks. */
	private final class ReactiveLine implements ReactiveIdempotencyStore {

		private final Line blocking;

		ReactiveLine(Line blocking) {
			this.blocking = blocking;
		}

		private <T> Mono<T> send(Supplier<Message<T>> message, Consumer<T> answered) {
			return Mono.<T>create((sink) -> message.get().send(sink)).doOnNext(answered);
		}

		@Override
		public Mono<ClaimResult> claim(ClaimRequest request) {
			return Mono.deferContextual((context) -> {
				Attempt attempt = context.get(Attempt.class);
				long sent = Network.this.world.now();
				return send(() -> this.blocking.claim(attempt, request),
						(answer) -> this.blocking.claimed(attempt, answer, sent));
			});
		}

		@Override
		public Mono<Boolean> complete(Completion completion) {
			return send(() -> this.blocking.completion(completion),
					(accepted) -> attempt(completion.claim().id()).completionAnswered = true);
		}

		@Override
		public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
			return send(() -> this.blocking.releaseOf(key, claimId), (accepted) -> {
			});
		}

		@Override
		public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
			return Mono.defer(() -> {
				List<Renewal> one = List.of(new Renewal(key, claimId, lease));
				long sent = Network.this.world.now();
				return send(() -> this.blocking.renewal(one), (rejected) -> this.blocking.renewed(one, rejected, sent))
					.map(Set::isEmpty);
			});
		}

		@Override
		public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
			throw new UnsupportedOperationException();
		}

		@Override
		public IdempotencyStore blocking() {
			return this.blocking;
		}

	}

	/** The store as one node sees it. */
	final class Line implements IdempotencyStore {

		private final Node node;

		Line(Node node) {
			this.node = node;
		}

		private IdempotencyStore store() {
			return Network.this.store;
		}

		private Rules rules() {
			return Network.this.rules;
		}

		ReactiveIdempotencyStore reactive() {
			return new ReactiveLine(this);
		}

		private Message<ClaimResult> claim(Attempt attempt, ClaimRequest request) {
			Network.this.attempts.put(request.claimId(), attempt);
			return new Message<>(this.node, attempt, "claim", () -> store().claim(request),
					(answer) -> rules().claimed(attempt, request, answer));
		}

		private void claimed(Attempt attempt, ClaimResult result, long sent) {
			if (result instanceof ClaimResult.Acquired) {
				attempt.leaseFrom = sent;
				attempt.lastBeat = sent;
			}
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			Attempt attempt = Network.this.world.attempt();
			if (attempt == null) {
				throw new World.Gone();
			}
			long sent = Network.this.world.now();
			ClaimResult result = claim(attempt, request).send();
			claimed(attempt, result, sent);
			return result;
		}

		private Message<Boolean> completion(Completion completion) {
			Attempt attempt = attempt(completion.claim().id());
			rules().completes(attempt, completion);
			return new Message<>(this.node, attempt, "complete", () -> store().complete(completion),
					(answer) -> rules().completed(attempt, answer));
		}

		@Override
		public boolean complete(Completion completion) {
			boolean accepted = completion(completion).send();
			attempt(completion.claim().id()).completionAnswered = true;
			return accepted;
		}

		private Message<Boolean> releaseOf(IdempotencyKey key, ClaimId claimId) {
			Attempt attempt = attempt(claimId);
			rules().releases(attempt);
			return new Message<>(this.node, attempt, "release", () -> store().release(key, claimId),
					(answer) -> rules().released(attempt, answer));
		}

		@Override
		public boolean release(IdempotencyKey key, ClaimId claimId) {
			return releaseOf(key, claimId).send();
		}

		@Override
		public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
			return renewAll(List.of(new Renewal(key, claimId, lease))).isEmpty();
		}

		private Message<Set<ClaimId>> renewal(List<Renewal> inOrder) {
			inOrder.forEach((renewal) -> rules().renews(attempt(renewal.claimId())));
			return new Message<>(this.node, attempt(inOrder.get(0).claimId()), "renew", () -> renewNow(inOrder),
					(answer) -> {
					});
		}

		private void renewed(List<Renewal> renewals, Set<ClaimId> rejected, long sent) {
			for (Renewal renewal : renewals) {
				Attempt attempt = attempt(renewal.claimId());
				if (rejected.contains(renewal.claimId())) {
					attempt.lost = true;
				}
				else {
					attempt.leaseFrom = Math.max(attempt.leaseFrom, sent);
				}
			}
		}

		@Override
		public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
			List<Renewal> inOrder = renewals.stream()
				.sorted(Comparator.comparing((renewal) -> attempt(renewal.claimId()).id()))
				.toList();
			long sent = Network.this.world.now();
			Attempt first = attempt(inOrder.get(0).claimId());
			Set<ClaimId> rejected;
			try {
				rejected = renewal(inOrder).send();
			}
			finally {
				if (first.beatDisturbed >= sent) {
					inOrder.forEach((renewal) -> attempt(renewal.claimId()).beatDisturbed = first.beatDisturbed);
				}
			}
			renewed(inOrder, rejected, sent);
			return rejected;
		}

		private Set<ClaimId> renewNow(List<Renewal> renewals) {
			Set<ClaimId> rejected = new HashSet<>();
			for (Renewal renewal : renewals) {
				boolean renewed = store().renew(renewal.key(), renewal.claimId(), renewal.lease());
				rules().renewed(attempt(renewal.claimId()), renewed);
				if (!renewed) {
					rejected.add(renewal.claimId());
				}
			}
			return rejected;
		}

		@Override
		public Instant issue(IdempotencyKey token, Duration timeToLive) {
			throw new UnsupportedOperationException();
		}

	}

	/** One request and its reply. */
	private final class Message<T> {

		private final Node node;

		private final Attempt attempt;

		private final String verb;

		private final int count;

		private final Supplier<T> step;

		private final Consumer<T> applied;

		private @Nullable T reply;

		private @Nullable RuntimeException failure;

		Message(Node node, Attempt attempt, String verb, Supplier<T> step, Consumer<T> applied) {
			this.node = node;
			this.attempt = attempt;
			this.verb = verb;
			this.count = attempt.next(verb);
			this.step = step;
			this.applied = applied;
		}

		private long delay(String what, long most) {
			return Network.this.scenario.chance()
				.between(MILLI / 5, most, what, this.attempt.id(), this.verb, this.count);
		}

		private void disturbed() {
			this.attempt.disturbed = true;
			if (this.verb.equals("renew") || this.verb.equals("claim")) {
				this.attempt.beatDisturbed = Network.this.world.now();
			}
		}

		/** Sends the request, and waits for its reply. */
		T send() {
			World world = Network.this.world;
			World.Wait wait = world.prepare();
			Fault fault = begin((time) -> world.wake(wait, time));
			world.block();
			return ended(fault);
		}

		/** Sends the request; its reply comes as an event of the node. */
		void send(MonoSink<T> answer) {
			boolean[] over = new boolean[1];
			Fault[] fault = new Fault[1];
			fault[0] = begin((time) -> Network.this.world.at(time, this.node, () -> {
				if (over[0]) {
					return;
				}
				over[0] = true;
				T reply;
				try {
					reply = ended(fault[0]);
				}
				catch (RuntimeException failed) {
					answer.error(failed);
					return;
				}
				answer.success(reply);
			}));
		}

		private @Nullable Fault begin(LongConsumer ends) {
			World world = Network.this.world;
			boolean cut = Network.this.rules.isCut(this.node);
			Fault fault = cut ? null : fault(this.attempt, this.verb, this.count);
			long timeout = (long) (this.attempt.call.key().lease() * Network.this.scenario.timeout());
			if (cut || fault != null) {
				disturbed();
			}
			long sent = world.now();
			long there = delay("there", 4 * MILLI);
			long back = delay("back", 4 * MILLI);
			if (fault == Fault.SLOW) {
				there = delay("slow there", timeout * 3 / 4);
				back = delay("slow back", timeout * 3 / 4);
			}
			ends.accept(sent + timeout);
			if (fault == Fault.NOT_REACHED || cut && delay("rejected", 2 * MILLI) < MILLI) {
				fails(ends, sent + there, new StoreNotReachedException("no connection", new IllegalStateException()));
			}
			else if (fault != Fault.REQUEST_LOST && !cut) {
				boolean lost = fault == Fault.REPLY_LOST;
				long later = back;
				world.at(sent + there, null, () -> apply(ends, later, lost));
				if (fault == Fault.REPEATED) {
					world.at(sent + there + delay("repeated", 2 * this.attempt.call.key().lease()), null, () -> {
						boolean granted = this.attempt.granted;
						this.applied.accept(this.step.get());
						// The node does not know that its lease is longer now, nor what
						// else
						// came of it.
						this.attempt.granted = granted;
						disturbed();
					});
				}
			}
			return fault;
		}

		private T ended(@Nullable Fault fault) {
			if (fault == Fault.SLOW) {
				disturbed();
			}
			if (this.failure == null && this.reply == null) {
				this.failure = new IdempotencyStoreException("time-out");
			}
			if (this.failure != null) {
				this.node.failed();
				throw this.failure;
			}
			this.node.answered();
			return this.reply;
		}

		private void apply(LongConsumer ends, long back, boolean lost) {
			T answer = this.step.get();
			this.applied.accept(answer);
			long replied = Network.this.world.now() + back;
			if (lost) {
				fails(ends, replied, new IdempotencyStoreException("the reply is lost"));
				return;
			}
			Network.this.world.at(replied, null, () -> {
				if (Network.this.rules.isCut(this.node)) {
					disturbed();
				}
				else if (this.failure == null) {
					this.reply = answer;
					ends.accept(replied);
				}
			});
		}

		private void fails(LongConsumer ends, long at, RuntimeException cause) {
			Network.this.world.at(at, null, () -> {
				if (this.failure == null) {
					this.failure = cause;
					ends.accept(at);
				}
			});
		}

	}

}
