package io.idempotency.reactor;

import java.time.Duration;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.GuardedCall;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;

/** Results that this node has seen are looked for before anything is claimed. */
class SeenResultsTests {

	private static final IdempotencyOptions REPLAY = ReactiveNode.REPLAY;

	private final ReactiveNode node = new ReactiveNode(1);

	private final TextAction order = new TextAction(Mono.just("order-1"));

	private final TextAction duplicate = new TextAction(Mono.error(new AssertionError("runs twice")));

	@BeforeEach
	void runOnce() {
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("claim", "complete");
		this.node.store.asked.clear();
	}

	@AfterEach
	void close() {
		this.node.close();
	}

	private Client<String> repeat() {
		return this.node.start(REPLAY, this.duplicate);
	}

	@Test
	void isFoundByOneLook() {
		assertThat(repeat().value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("find");
		assertThat(this.node.events).containsExactly(IdempotencyEvent.EXECUTED, IdempotencyEvent.REPLAYED);
	}

	@Test
	void claimDecidesWhereNothingIsFound() {
		this.node.store.sayNothing("find");
		assertThat(repeat().value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("find", "claim");
	}

	@Test
	void resultThatIsOverIsNotGiven() {
		this.node.time.advance(REPLAY.retention().plusSeconds(1));
		assertThat(this.node.start(REPLAY, this.order).value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("find", "claim", "complete");
		assertThat(this.order.runs).hasValue(2);
	}

	@Test
	void storeWhoseLooksFailIsAskedByClaimsForAMoment() {
		this.node.store.fail("find", new IllegalStateException("no look"));
		assertThat(repeat().value).isEqualTo("order-1");
		assertThat(repeat().value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("find", "claim", "claim");
		this.node.store.asked.clear();
		this.node.time.advance(Duration.ofSeconds(10));
		assertThat(repeat().value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("find");
	}

	/** The caller would wait for the same timeout again. */
	@Test
	void lookThatHasTakenItsTimeToFailStandsForTheClaim() {
		GatedStore.Gate failing = this.node.store.holdFailure("find", new IllegalStateException("no reply"));
		Client<String> caller = repeat();
		this.node.time.advance(Duration.ofSeconds(2));
		failing.open();
		assertThat(caller.failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		assertThat(this.node.store.asked).containsExactly("find");
	}

	/** Another call of the key has not waited, though its thread has. */
	@Test
	void lookOfACallThatIsRejectedStandsForNoClaim() {
		GuardedCall unattended = new GuardedCall(IdempotencyKey.of("orders.ship", Caller.GLOBAL, "key-2"),
				Fingerprint.NONE, REPLAY, this.node.memory);
		Sinks.One<String> gate = Sinks.one();
		Client.of(this.node.reactive.execute(unattended, new TextAction(gate.asMono()), OnDisconnect.CONTINUE))
			.hangUp();
		this.node.store.asked.clear();
		GatedStore.Gate failing = this.node.store.holdFailure("find", new IllegalStateException("no reply"));
		Client<String> rejected = repeat();
		this.node.time.advance(Duration.ofSeconds(2));
		failing.open();
		assertThat(rejected.failure).isInstanceOf(IdempotencyStoreUnavailableException.class);
		gate.tryEmitValue("shipped");
		assertThat(repeat().value).isEqualTo("order-1");
		assertThat(this.node.store.asked).containsExactly("find", "complete", "claim");
	}

	@Test
	void lookThatBreaksDownEndsTheCall() {
		NoClassDefFoundError broken = new NoClassDefFoundError("a class");
		this.node.store.breakDown("find", broken);
		assertThat(repeat().failure).isSameAs(broken);
		assertThat(repeat().value).isEqualTo("order-1");
	}

	@Test
	void callerWhoHangsUpMeanwhileLeavesNothing() {
		GatedStore.Gate found = this.node.store.holdReply("find");
		Client<String> gone = repeat();
		gone.hangUp();
		found.open();
		assertThat(gone.isAnswered()).isFalse();
		assertThat(this.node.store.asked).containsExactly("find");
		assertThat(this.node.events).containsExactly(IdempotencyEvent.EXECUTED);
	}

	@Test
	void callerWhoHangsUpBeforeNothingIsFoundClaimsNothing() {
		GatedStore.Gate failing = this.node.store.holdFailure("find", new IllegalStateException("no look"));
		Client<String> gone = repeat();
		gone.hangUp();
		failing.open();
		assertThat(this.node.store.asked).containsExactly("find");
	}

	@Test
	void callThatIsCountedIsNotLookedFor() {
		IdempotencyOptions reject = REPLAY.change().mode(IdempotencyMode.REJECT).build();
		assertThat(this.node.start(reject, this.duplicate).failure).isInstanceOf(IdempotencyDuplicateException.class);
		assertThat(this.node.store.asked).containsExactly("claim");
	}

}
