package io.idempotency.reactor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyRecord;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.RecordKey;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * One node over a gated store, whose records another node may change behind its back, and
 * whose time passes when the test says so.
 */
final class ReactiveNode implements AutoCloseable {

	static final IdempotencyOptions REPLAY = IdempotencyOptions.DEFAULTS.change().operation("orders.create").build();

	static final IdempotencyOptions WAIT = REPLAY.change()
		.conflict(ConflictMode.WAIT)
		.waitTimeout(Duration.ofSeconds(10))
		.build();

	static final IdempotencyKey KEY = IdempotencyKey.of("orders.create", Caller.GLOBAL, "key-1");

	final ManualTime time = new ManualTime();

	final MemoryIdempotencyStore memory = new MemoryIdempotencyStore(16_000_000, this.time.clock);

	final GatedStore store = new GatedStore(this.memory);

	final List<IdempotencyEvent> events = new ArrayList<>();

	final IdempotencyEngine engine;

	final ReactiveIdempotencyEngine reactive;

	ReactiveNode() {
		this(EngineObserver.NONE);
	}

	ReactiveNode(EngineObserver observer) {
		this(observer, DetachedCalls.Limits.DEFAULTS);
	}

	/** A node with a small number of detached calls. */
	ReactiveNode(int maxDetachedCalls) {
		this(EngineObserver.NONE, new DetachedCalls.Limits(maxDetachedCalls, Duration.ofMinutes(10)));
	}

	private ReactiveNode(EngineObserver observer, DetachedCalls.Limits limits) {
		this.engine = new IdempotencyEngine(100, limits, (event, operation) -> this.events.add(event), this.time,
				() -> null, null, observer);
		this.reactive = new ReactiveIdempotencyEngine(this.engine, List.of(this.store), Schedulers.immediate());
	}

	GuardedCall call(IdempotencyOptions policy) {
		return new GuardedCall(KEY, Fingerprint.NONE, policy, this.memory);
	}

	Mono<String> guarded(IdempotencyOptions policy, TextAction action) {
		return this.reactive.execute(call(policy), action, OnDisconnect.CONTINUE);
	}

	Client<String> start(IdempotencyOptions policy, TextAction action) {
		return Client.of(guarded(policy, action));
	}

	Client<String> start(IdempotencyOptions policy, TextAction action, OnDisconnect onDisconnect) {
		return Client.of(this.reactive.execute(call(policy), action, onDisconnect));
	}

	/** Another guarded call makes this one, after the close and without timers. */
	<T> Mono<T> withinWorkThatOutlivesAll(Mono<T> nested) {
		Mono<T> work = Mono.defer(() -> {
			this.engine.close(Duration.ZERO);
			this.time.close();
			return nested;
		});
		GuardedCall outer = new GuardedCall(IdempotencyKey.of("orders.ship", Caller.GLOBAL, "key-2"), Fingerprint.NONE,
				REPLAY, this.memory);
		return this.reactive.execute(outer, new TextAction(work.thenReturn("shipped")), OnDisconnect.CONTINUE)
			.then(Mono.empty());
	}

	/** Another node claims the key. */
	Claim claimElsewhere(Duration lease) {
		ClaimResult result = this.memory.claim(ClaimRequest.of(KEY, lease, Duration.ofHours(24)));
		return ((ClaimResult.Acquired) result).claim();
	}

	/** Returns what the store has of the key, {@code null} if it is free. */
	IdempotencyRecord.@Nullable State state() {
		return this.memory.admin().orElseThrow().find(RecordKey.of(KEY)).map(IdempotencyRecord::state).orElse(null);
	}

	@Override
	public void close() {
		this.engine.close(Duration.ZERO);
		this.reactive.close();
	}

}
