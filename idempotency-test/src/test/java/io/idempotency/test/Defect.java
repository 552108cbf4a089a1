package io.idempotency.test;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimResult.Acquired;
import io.idempotency.store.ClaimResult.Completed;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.Renewal;
import org.jspecify.annotations.Nullable;

/**
 * What a store does wrong.
 *
 * @param what the store does, in words
 * @param store makes the defective store of a sound one
 * @param rules the methods of the contract that notice it
 */
record Defect(String what, Function<KnownStore, IdempotencyStore> store, List<String> rules) {

	/** No defect. */
	static final Defect NONE = new Defect("has no defect", (sound) -> sound, List.of());

	@Override
	public String toString() {
		return this.what;
	}

	static Defect of(String what, Function<KnownStore, IdempotencyStore> store, String... rules) {
		return new Defect(what, store, List.of(rules));
	}

	static Defect claim(String what, BiPredicate<KnownStore, ClaimRequest> when,
			BiFunction<KnownStore, ClaimRequest, ClaimResult> then, String... rules) {
		return of(what, (sound) -> new ForwardingIdempotencyStore(sound) {

			@Override
			public ClaimResult claim(ClaimRequest request) {
				return when.test(sound, request) ? then.apply(sound, request) : super.claim(request);
			}

		}, rules);
	}

	/** A store that gives another answer of a type than its records do. */
	static <A extends ClaimResult> Defect answer(String what, Class<A> type, Answer<A> told, String... rules) {
		return claim(what, (sound, request) -> true, (sound, request) -> {
			ClaimResult answer = sound.claim(request);
			return type.isInstance(answer) ? told.tell(sound, request, type.cast(answer)) : answer;
		}, rules);
	}

	/**
	 * A store that gives another claim than it has made, of the claim of the key before
	 * and the new one.
	 */
	static Defect acquired(String what, BinaryOperator<Claim> told, String... rules) {
		return claim(what, (sound, request) -> sound.wasClaimed(request.key()), (sound, request) -> {
			Claim before = sound.claim(request.key());
			return (sound.claim(request) instanceof Acquired acquired)
					? new Acquired(told.apply(before, acquired.claim()), acquired.before()) : sound.claim(request);
		}, rules);
	}

	static Defect complete(String what, BiPredicate<KnownStore, Completion> when,
			BiPredicate<KnownStore, Completion> then, String... rules) {
		return of(what, (sound) -> new ForwardingIdempotencyStore(sound) {

			@Override
			public boolean complete(Completion completion) {
				return when.test(sound, completion) ? then.test(sound, completion) : super.complete(completion);
			}

		}, rules);
	}

	static Defect release(String what, Release when, Release then, String... rules) {
		return of(what, (sound) -> new ForwardingIdempotencyStore(sound) {

			@Override
			public boolean release(IdempotencyKey key, ClaimId id) {
				return when.test(sound, key, id) ? then.test(sound, key, id) : super.release(key, id);
			}

		}, rules);
	}

	static Defect renew(String what, Release when, Renew then, String... rules) {
		return of(what, (sound) -> new ForwardingIdempotencyStore(sound) {

			@Override
			public boolean renew(IdempotencyKey key, ClaimId id, Duration lease) {
				return when.test(sound, key, id) ? then.renew(sound, key, id, lease) : super.renew(key, id, lease);
			}

		}, rules);
	}

	static Defect renewAll(String what, BiFunction<KnownStore, Collection<Renewal>, Set<ClaimId>> verb,
			String... rules) {
		return of(what, (sound) -> new ForwardingIdempotencyStore(sound) {

			@Override
			public Set<ClaimId> renewAll(Collection<Renewal> renewals) {
				return verb.apply(sound, renewals);
			}

		}, rules);
	}

	static Defect issue(String what, Issue verb, String... rules) {
		return of(what, (sound) -> new ForwardingIdempotencyStore(sound) {

			@Override
			public Instant issue(IdempotencyKey token, Duration timeToLive) {
				return verb.issue(sound, token, timeToLive);
			}

		}, rules);
	}

	static Defect find(String what, Find verb, String... rules) {
		return of(what, (sound) -> new ForwardingIdempotencyStore(sound) {

			@Override
			public Optional<Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
				return verb.find(sound, key, fingerprint);
			}

		}, rules);
	}

	/** A store that takes one key for another. */
	static Defect keys(String what, UnaryOperator<IdempotencyKey> taken, String... rules) {
		return of(what, (sound) -> new ForwardingIdempotencyStore(sound) {

			@Override
			public ClaimResult claim(ClaimRequest asked) {
				return super.claim(new ClaimRequest(taken.apply(asked.key()), asked.claimId(), asked.fingerprint(),
						asked.type(), asked.lease(), asked.retention(), asked.takeOver(), asked.origin()));
			}

			@Override
			public boolean release(IdempotencyKey key, ClaimId id) {
				return super.release(taken.apply(key), id);
			}

			@Override
			public Instant issue(IdempotencyKey token, Duration timeToLive) {
				return super.issue(taken.apply(token), timeToLive);
			}

		}, rules);
	}

	/** A store that shows operators another record than it has. */
	static Defect shown(String what, UnaryOperator<IdempotencyRecord> shown, String... rules) {
		return operators(what, (admin) -> new Operators(admin) {

			@Override
			public Optional<IdempotencyRecord> find(RecordKey key) {
				return super.find(key).map(shown);
			}

		}, rules);
	}

	static Defect operators(String what, UnaryOperator<RecordAdmin> offer, String... rules) {
		return of(what, (sound) -> new ForwardingIdempotencyStore(sound) {

			@Override
			public Optional<RecordAdmin> admin() {
				return super.admin().map(offer);
			}

		}, rules);
	}

	@FunctionalInterface
	interface Answer<A extends ClaimResult> {

		ClaimResult tell(KnownStore sound, ClaimRequest request, A answer);

	}

	/** What a store does, or when it does so. */
	@FunctionalInterface
	interface Release {

		boolean test(KnownStore sound, IdempotencyKey key, ClaimId id);

	}

	@FunctionalInterface
	interface Renew {

		boolean renew(KnownStore sound, IdempotencyKey key, ClaimId id, Duration lease);

	}

	@FunctionalInterface
	interface Issue {

		Instant issue(KnownStore sound, IdempotencyKey token, Duration timeToLive);

	}

	@FunctionalInterface
	interface Find {

		Optional<Completed> find(KnownStore sound, IdempotencyKey key, Fingerprint fingerprint);

	}

	/** What a store offers to operators, to be changed. */
	static class Operators implements RecordAdmin {

		private final RecordAdmin admin;

		Operators(RecordAdmin admin) {
			this.admin = admin;
		}

		@Override
		public Optional<IdempotencyRecord> find(RecordKey key) {
			return this.admin.find(key);
		}

		@Override
		public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
			return this.admin.scan(selection, cursor, count);
		}

		@Override
		public Eviction evict(RecordKey key, boolean force) {
			return this.admin.evict(key, force);
		}

	}

}
