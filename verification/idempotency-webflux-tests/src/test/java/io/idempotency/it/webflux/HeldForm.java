package io.idempotency.it.webflux;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

import io.idempotency.IdempotencyRecord;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.RecordKey;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * A store that does not block, whose steps for some keys stand still until a test lets
 * them go on.
 */
record HeldForm(ReactiveIdempotencyStore store) implements ReactiveIdempotencyStore {

	private static final Map<String, Hold> HOLDS = new ConcurrentHashMap<>();

	/**
	 * Holds the next call with a key.
	 * @param key the key of the client
	 * @return what is held
	 */
	static Hold hold(Moment moment, String key) {
		Hold hold = new Hold(moment);
		HOLDS.put(key, hold);
		return hold;
	}

	@Override
	public Mono<ClaimResult> claim(ClaimRequest request) {
		return Mono.defer(() -> {
			Hold hold = HOLDS.get(request.key().value());
			return (hold != null) ? hold.claim(this.store, request) : this.store.claim(request);
		});
	}

	@Override
	public Mono<Boolean> complete(Completion completion) {
		return Mono.defer(() -> {
			Hold hold = HOLDS.get(completion.claim().key().value());
			return (hold != null) ? hold.complete(this.store, completion) : this.store.complete(completion);
		});
	}

	@Override
	public Mono<Boolean> release(IdempotencyKey key, ClaimId claimId) {
		return this.store.release(key, claimId);
	}

	@Override
	public Mono<Boolean> renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
		return this.store.renew(key, claimId, lease);
	}

	@Override
	public Mono<Instant> issue(IdempotencyKey token, Duration timeToLive) {
		return this.store.issue(token, timeToLive);
	}

	@Override
	public Mono<ClaimResult.Completed> find(IdempotencyKey key, Fingerprint fingerprint) {
		return this.store.find(key, fingerprint);
	}

	@Override
	public IdempotencyStore blocking() {
		return this.store.blocking();
	}

	enum Moment {

		/** The claim is written, and nobody has heard of it. */
		CLAIMED,

		/** The end of the call is about to be written. */
		COMPLETING,

		/** The end is written, and nobody has heard of it. */
		COMPLETED

	}

	/** A call that stands still at one moment. */
	static final class Hold {

		final CountDownLatch reached = new CountDownLatch(1);

		private final Moment moment;

		private final Sinks.Empty<Void> over = Sinks.empty();

		private volatile @Nullable ReactiveIdempotencyStore store;

		private volatile @Nullable IdempotencyKey key;

		private Hold(Moment moment) {
			this.moment = moment;
		}

		void end() {
			this.over.tryEmitEmpty();
		}

		/** Returns what the store has of the key, {@code null} if it is free. */
		IdempotencyRecord.@Nullable State state() {
			return this.store.blocking()
				.admin()
				.orElseThrow()
				.find(RecordKey.of(this.key))
				.map(IdempotencyRecord::state)
				.orElse(null);
		}

		private Mono<ClaimResult> claim(ReactiveIdempotencyStore asked, ClaimRequest request) {
			this.store = asked;
			this.key = request.key();
			Mono<ClaimResult> claim = asked.claim(request);
			return (this.moment == Moment.CLAIMED) ? claim.flatMap(this::later) : claim;
		}

		private Mono<Boolean> complete(ReactiveIdempotencyStore asked, Completion completion) {
			Mono<Boolean> end = asked.complete(completion);
			return switch (this.moment) {
				case CLAIMED -> end;
				case COMPLETING -> later(true).then(end);
				case COMPLETED -> end.flatMap(this::later);
			};
		}

		private <T> Mono<T> later(T answer) {
			return Mono.defer(() -> {
				this.reached.countDown();
				return this.over.asMono().publishOn(Schedulers.parallel()).thenReturn(answer);
			});
		}

	}

	/** Holds the store of an application. */
	@TestConfiguration(proxyBeanMethods = false)
	static class Engine {

		@Bean
		ReactiveIdempotencyEngine reactiveIdempotencyEngine(IdempotencyEngine engine,
				ObjectProvider<ReactiveIdempotencyStore> stores) {
			return new ReactiveIdempotencyEngine(engine, stores.stream().map(HeldForm::new).toList());
		}

	}

}
