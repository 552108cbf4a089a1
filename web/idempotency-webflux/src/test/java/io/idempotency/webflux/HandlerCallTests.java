package io.idempotency.webflux;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.GuardedCall;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveAction;
import io.idempotency.reactor.ReactiveClaim;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.store.StoredResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A client that disconnects exactly when its handler begins. */
class HandlerCallTests {

	private final IdempotencyEngine engine = new IdempotencyEngine(1, (event, operation) -> {
	});

	private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(1 << 20);

	private final ReactiveIdempotencyEngine reactive = new ReactiveIdempotencyEngine(this.engine, List.of());

	@AfterEach
	void close() {
		this.reactive.close();
		this.engine.close();
	}

	@Test
	void handlerDoesNotRunAfterCancelledCallReleasedItsKey() {
		HandlerCall cancelled = claim();
		cancelled.chainCancelled();
		HandlerCall next = claim();
		assertThat(cancelled.begins()).isFalse();
		assertThat(next.begins()).isTrue();
	}

	@Test
	void cancelledCallKeepsItsKeyWhenHandlerHasBegun() {
		HandlerCall cancelled = claim();
		assertThat(cancelled.begins()).isTrue();
		cancelled.chainCancelled();
		assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(this::claim);
	}

	@SuppressWarnings("NullAway")
	private HandlerCall claim() {
		AtomicReference<ReactiveClaim> claim = new AtomicReference<>();
		GuardedCall call = new GuardedCall(IdempotencyKey.of("orders.create", Caller.GLOBAL, "1"), Fingerprint.NONE,
				IdempotencyOptions.DEFAULTS.change().operation("orders.create").build(), this.store);
		this.reactive.execute(call, new ReactiveAction<String>() {

			@Override
			public void acquired(ReactiveClaim acquired) {
				claim.set(acquired);
			}

			@Override
			public Mono<String> run() {
				return Mono.empty();
			}

			@Override
			public String replay(StoredResult result) {
				return "replayed";
			}

			@Override
			public CallOutcome returned(String value, boolean recovered) {
				return new CallOutcome.Deferred(new CompletableFuture<>());
			}

			@Override
			public CallOutcome threw(Throwable failure) {
				return new CallOutcome.Failed(failure, null);
			}

		}, OnDisconnect.CANCEL).block();
		return new HandlerCall(null, claim.get(), null, null, false);
	}

}
