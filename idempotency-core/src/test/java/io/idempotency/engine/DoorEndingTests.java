package io.idempotency.engine;

import java.nio.charset.StandardCharsets;

import io.idempotency.codec.ResultCodec;
import io.idempotency.engine.ValueAction.ReportedFailure;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What a door says of the end of a call, and what is made of a door that fails. */
class DoorEndingTests {

	private static final IllegalStateException WORK = new IllegalStateException("work");

	private static final IllegalStateException DOOR = new IllegalStateException("door");

	@Test
	void successIsWhatTheDoorMakesOfIt() {
		assertThat(CallOutcome.ofSuccess(() -> CallOutcome.OUT_OF_SIGHT)).isSameAs(CallOutcome.OUT_OF_SIGHT);
	}

	@Test
	void successStaysOneIfTheDoorFails() {
		CallOutcome ending = CallOutcome.ofSuccess(() -> {
			throw DOOR;
		});
		assertThat(ending).isEqualTo(new CallOutcome.SuccessWithoutResult(DOOR));
	}

	@Test
	void failureIsWhatTheDoorMakesOfIt() {
		assertThat(CallOutcome.ofFailure(WORK, CallOutcome.NotRun::new)).isEqualTo(new CallOutcome.NotRun(WORK));
	}

	@Test
	void failureOfTheWorkWinsIfTheDoorFailsToo() {
		IllegalStateException work = new IllegalStateException("work");
		CallOutcome ending = CallOutcome.ofFailure(work, (failure) -> {
			throw DOOR;
		});
		assertThat(ending).isEqualTo(new CallOutcome.Failed(work, null));
		assertThat(work).hasSuppressedException(DOOR);
	}

	@Test
	void doorMayThrowTheFailureItself() {
		CallOutcome ending = CallOutcome.ofFailure(WORK, (failure) -> {
			throw WORK;
		});
		assertThat(ending).isEqualTo(new CallOutcome.Failed(WORK, null));
	}

	@Test
	void failureThatTheClientWasToldIsInNoMessage() {
		ReportedFailure failure = new ReportedFailure("card 4711 is rejected");
		assertThat(failure.text()).isEqualTo("card 4711 is rejected");
		assertThat(failure).message().doesNotContain("4711");
	}

	@Test
	void codecComparesByTheStoredFormUnlessItKnowsBetter() {
		ResultCodec codec = new TextCodec();
		assertThat(codec.incomparable(String.class)).isNull();
		assertThat(codec.comparable("same")).asString(StandardCharsets.US_ASCII).isEqualTo("=same");
	}

}
