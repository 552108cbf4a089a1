package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import ch.qos.logback.classic.Level;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Calls that continue after their caller. */
class DetachedCallsTests {

	private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

	private final ManualScheduler time = new ManualScheduler();

	private final EngineFixture node = new EngineFixture(this.time, new DetachedCalls.Limits(4, TEN_MINUTES));

	private final List<DetachedAction> detached = new ArrayList<>();

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void renewsTheClaimOfAFutureForTenMinutesAtMost() throws Throwable {
		this.node.execute(TestPolicy.replay(), TestAction.async(() -> new CompletableFuture<>()));
		assertRenewedForTenMinutes();
		assertThat(this.node.engine.load().detachedCalls()).isZero();
	}

	private void assertRenewedForTenMinutes() {
		this.time.advance(TEN_MINUTES.minusSeconds(1));
		assertThat(this.node.store.count(Verb.RENEW)).isGreaterThan(50);
		assertThat(this.node.log.messages(Level.WARN)).isEmpty();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.node.log.messages(Level.WARN)).singleElement()
			.asString()
			.contains("'orders.create'")
			.contains("idempotency.max-detached-duration");
		this.node.store.forget();
		this.time.advance(TEN_MINUTES);
		assertThat(this.node.store.sequence()).isEmpty();
	}

	@Test
	void renewsADetachedClaimForTenMinutesFromItsDetachment() throws Throwable {
		DetachedAction call = start("orders.create", "key-1");
		this.time.advance(TEN_MINUTES.multipliedBy(3));
		this.node.store.forget();
		call.claim().detach();
		call.claim().detach();
		assertThat(this.node.engine.load().detachedCalls()).isOne();
		assertRenewedForTenMinutes();
		assertThat(this.node.engine.load().detachedCalls()).isZero();
		assertThat(this.node.askElsewhere(TestPolicy.replay())).isInstanceOf(ClaimResult.InProgress.class);
		this.node.clock.advance(Duration.ofSeconds(31));
		assertThat(this.node.askElsewhere(TestPolicy.replay())).isInstanceOfSatisfying(ClaimResult.Acquired.class,
				(acquired) -> assertThat(acquired.claim().abandoned()).isTrue());
	}

	@Test
	void storesTheResultOfWorkThatEndsTooLate() throws Throwable {
		DetachedAction call = start("orders.create", "key-1");
		call.claim().detach();
		this.time.advance(TEN_MINUTES);
		call.work.complete("one");
		assertThat(this.node.events.all()).containsExactly(IdempotencyEvent.EXECUTED);
		assertThat(this.node.execute(TestPolicy.replay(), TestAction.returning("two"))).isEqualTo("one");
	}

	@Test
	void ignoresTheBoundAfterTheEndOfTheWork() throws Throwable {
		DetachedAction call = start("orders.create", "key-1");
		call.claim().detach();
		call.work.complete("one");
		call.claim().detach();
		assertThat(this.node.engine.load().detachedCalls()).isZero();
		this.time.advance(TEN_MINUTES.multipliedBy(2));
		assertThat(this.node.log.messages(Level.WARN)).isEmpty();
	}

	@Test
	void renewsTheClaimOfAPendingCompletionBeyondTheBound() throws Throwable {
		DetachedAction call = start("orders.create", "key-1");
		call.claim().detach();
		this.time.advance(TEN_MINUTES.minusSeconds(1));
		this.node.store.failBefore(Verb.COMPLETE, 10);
		call.work.complete("one");
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.node.engine.load().outstandingWrites()).isOne();
		assertThat(this.node.engine.load().runningClaims()).isOne();
	}

	@Test
	void freesThePlaceOfAClaimThatIsNotRenewed() throws Throwable {
		DetachedAction call = new DetachedAction();
		this.node.execute(TestPolicy.mode(IdempotencyMode.REJECT), call);
		call.claim().detach();
		assertThat(this.node.engine.load().detachedCalls()).isOne();
		this.time.advance(TEN_MINUTES);
		assertThat(this.node.engine.load().detachedCalls()).isZero();
	}

	@Test
	void rejectsNewCallsOfTheOperationThatHasMoreThanHalfOfTheDetachedCalls() throws Throwable {
		for (int i = 0; i < 3; i++) {
			start("orders.create", "key-" + i).claim().detach();
		}
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> start("orders.create", "other"))
				.withMessageContaining("Too many detached calls");
		}
		assertThat(this.node.log.messages(Level.WARN)).singleElement().asString().contains("'orders.create'");
		start("orders.ship", "other").claim().detach();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> start("orders.pay", "other"));
		this.detached.get(0).work.complete("one");
		start("orders.pay", "other");
		start("orders.create", "other");
	}

	@Test
	void admitsCallsWithinGuardedWork() throws Throwable {
		for (int i = 0; i < 3; i++) {
			start("orders.create", "key-" + i).claim().detach();
		}
		try (IdempotencyContextHolder.Binding bound = this.detached.get(0).claim().enter()) {
			start("orders.create", "other");
		}
	}

	@Test
	void replaysAResultThatTheNodeKnowsWhileItRejectsNewCalls() throws Throwable {
		DetachedAction first = start("orders.create", "key-1");
		first.work.complete("one");
		for (int i = 2; i < 5; i++) {
			start("orders.create", "key-" + i).claim().detach();
		}
		assertThat(this.node.execute(TestPolicy.replay(), TestAction.returning("two"))).isEqualTo("one");
	}

	private DetachedAction start(String operation, String key) throws Throwable {
		DetachedAction action = new DetachedAction();
		this.node.engine.execute(new GuardedCall(IdempotencyKey.of(operation, Caller.GLOBAL, key), Fingerprint.NONE,
				TestPolicy.replay().operation(operation).build(), this.node.store), action);
		this.detached.add(action);
		return action;
	}

	/** Work whose adapter knows when the caller is gone. */
	private static final class DetachedAction extends ValueAction<CompletableFuture<String>> {

		private final CompletableFuture<String> work = new CompletableFuture<>();

		private @Nullable OwnedClaim claim;

		DetachedAction() {
			super(new TextCodec(), String.class, true);
		}

		OwnedClaim claim() {
			return Objects.requireNonNull(this.claim);
		}

		@Override
		public void acquired(OwnedClaim claim) {
			this.claim = claim;
		}

		@Override
		public CompletableFuture<String> run() {
			return this.work;
		}

		@Override
		public boolean deferred(CompletionStage<?> answer) {
			return true;
		}

		@Override
		protected @Nullable Object lookUp() {
			return null;
		}

		@Override
		public boolean isDuplicate(Throwable failure) {
			return false;
		}

	}

}
