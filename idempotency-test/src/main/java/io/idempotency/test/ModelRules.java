package io.idempotency.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Moment;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.StoredRecord.Transition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random sequences of operations, each compared with the state table. Durations either
 * expire before the next operation or are longer than any test. A failure contains its
 * seed; {@code -Didempotency.contract.seed=} repeats it.
 */
interface ModelRules extends StoreUnderTest {

	/** The number of steps in each round. */
	int STEPS = 20;

	@Test
	default void randomVerbsAnswerAsTheStateTable() {
		long seed = ModelSeed.get();
		Sequence sequence = new Sequence(this, seed);
		for (int step = 0; step < STEPS * rounds(); step++) {
			sequence.next();
		}
	}

	/**
	 * Runs sequences on one key after the other. Each operation is sent to one of two
	 * nodes.
	 */
	final class Sequence {

		/** A duration that expires before the next operation. */
		private static final Duration SHORT = Duration.ofNanos(1000);

		/**
		 * The time that passes before each operation, measurable with a millisecond
		 * clock.
		 */
		private static final Duration PAUSE = Duration.ofMillis(2);

		private static final int VERBS_PER_KEY = 25;

		private static final int CALLERS = 3;

		private final StoreUnderTest test;

		private final long seed;

		private final RandomGenerator random;

		private final AtomicLong lastFence = new AtomicLong();

		private final List<String> history = new ArrayList<>();

		private final Claim[] ofStore = new Claim[CALLERS];

		private final Claim[] ofModel = new Claim[CALLERS];

		private IdempotencyKey key;

		private StoredRecord record;

		private long micros;

		Sequence(StoreUnderTest test, long seed) {
			this.test = test;
			this.seed = seed;
			this.random = new Random(seed);
			Instant now = Instant.now();
			this.micros = TimeUnit.SECONDS.toMicros(now.getEpochSecond());
			startKey();
		}

		private void startKey() {
			String id = UUID.randomUUID().toString();
			this.key = this.random.nextInt(4) == 0 ? IdempotencyKey.ofToken(Caller.ANONYMOUS, id)
					: IdempotencyKey.of("contract", Caller.GLOBAL, id);
			this.record = StoredRecord.ABSENT;
			this.history.clear();
			for (int caller = 0; caller < CALLERS; caller++) {
				this.ofStore[caller] = new Claim(this.key, ClaimId.random(), 1, false);
				this.ofModel[caller] = this.ofStore[caller];
			}
			if (this.key.isToken()) {
				issue(this.test.store());
			}
		}

		void next() {
			if (this.history.size() == VERBS_PER_KEY) {
				startKey();
			}
			this.test.elapse(PAUSE);
			this.micros += TimeUnit.MILLISECONDS.toMicros(PAUSE.toMillis());
			IdempotencyStore store = this.random.nextBoolean() ? this.test.store() : this.test.anotherStore();
			int caller = this.random.nextInt(CALLERS);
			switch (this.random.nextInt(this.key.isToken() ? 9 : 8)) {
				case 0, 1, 2 -> claim(store, caller);
				case 3, 4, 5 -> complete(store, caller);
				case 6 -> {
					ClaimId id = this.ofStore[caller].id();
					check("release by " + caller, store.release(this.key, id),
							model((current, moment) -> current.release(id, moment)));
				}
				case 7 -> {
					ClaimId id = this.ofStore[caller].id();
					Duration lease = duration();
					check("renew by " + caller + " for " + lease, store.renew(this.key, id, lease),
							model((current, moment) -> current.renew(id, lease, moment)));
				}
				default -> issue(store);
			}
		}

		private void issue(IdempotencyStore store) {
			store.issue(this.key, Call.LONG);
			model((current, moment) -> current.issue(Call.LONG, moment));
			this.history.add("issue");
		}

		private void claim(IdempotencyStore store, int caller) {
			ClaimType type = (this.random.nextInt(5) == 0) ? ClaimType.ONCE : ClaimType.LEASED;
			ClaimRequest request = ClaimRequest.of(this.key, duration(), duration())
				.withClaimId(this.ofStore[caller].id())
				.withFingerprint(fingerprint())
				.withType(type)
				.withTakeOver(this.random.nextInt(4) > 0);
			find(store, caller, request);
			ClaimResult answer = store.claim(request);
			ClaimResult expected = model((current, moment) -> current.claim(request, moment));
			check("claim by " + caller + ", " + type + ", " + request.fingerprint() + ", lease " + request.lease()
					+ ", retention " + request.retention() + ", take over " + request.takeOver(), readable(answer),
					readable(expected));
			if (answer instanceof ClaimResult.Acquired acquired) {
				this.ofStore[caller] = acquired.claim();
			}
			if (expected instanceof ClaimResult.Acquired acquired) {
				this.ofModel[caller] = acquired.claim();
			}
		}

		/** Reads the result that the following claim would return. */
		private void find(IdempotencyStore store, int caller, ClaimRequest request) {
			if (this.test.findsResults()) {
				ClaimResult claimed = live().claim(request.withType(ClaimType.LEASED), moment()).answer();
				check("find by " + caller, readable(store.find(request.key(), request.fingerprint()).orElse(null)),
						readable((claimed instanceof ClaimResult.Completed) ? claimed : null));
			}
		}

		private void complete(IdempotencyStore store, int caller) {
			Fingerprint fingerprint = fingerprint();
			int type = this.random.nextInt(4);
			Duration retention = duration();
			Duration attachWithin = duration();
			String result = caller + " at " + this.history.size();
			BiFunction<Claim, String, Completion> completion = (claim, text) -> switch (type) {
				case 0 -> Completion.withoutResult(claim, fingerprint, retention);
				case 1 -> Completion.executed(claim, fingerprint, attachWithin, retention);
				case 2 -> Completion.forget(claim, fingerprint);
				default -> Completion.result(claim, fingerprint, Call.result(text), retention);
			};
			Completion sent = completion.apply(this.ofStore[caller], result);
			check("complete by " + caller + ", " + sent.type() + ", " + fingerprint + ", retention " + sent
				.retention() + ", attach within " + sent.attachWithin(), store.complete(sent), model(
						(current, moment) -> current.complete(completion.apply(this.ofModel[caller], result), moment)));
		}

		private Duration duration() {
			return (this.random.nextInt(3) == 0) ? SHORT : Call.LONG;
		}

		private Fingerprint fingerprint() {
			return Call.fingerprint((this.random.nextInt(6) == 0) ? "other" : "first");
		}

		private <T> T model(BiFunction<StoredRecord, Moment, Transition<T>> verb) {
			Transition<T> step = verb.apply(live(), moment());
			this.record = step.next();
			return step.answer();
		}

		private StoredRecord live() {
			return this.record.isLive(moment()) ? this.record : StoredRecord.ABSENT;
		}

		private Moment moment() {
			return new Moment(this.micros, this.lastFence);
		}

		private void check(String verb, Object answer, Object expected) {
			this.history.add(verb + ": " + expected);
			assertThat(answer).as("seed %d, %s", this.seed, this.history).isEqualTo(expected);
		}

		private static String readable(@Nullable ClaimResult answer) {
			if (answer == null) {
				return "nothing";
			}
			String type = answer.getClass().getSimpleName();
			if (answer instanceof ClaimResult.Acquired acquired) {
				return type + (acquired.claim().abandoned() ? ", abandoned" : "");
			}
			if (answer instanceof ClaimResult.Completed completed) {
				return type + " " + new String(completed.result().bytes(), StandardCharsets.UTF_8);
			}
			return (answer instanceof ClaimResult.Duplicate duplicate) ? type + " " + duplicate.attempts() : type;
		}

	}

}
