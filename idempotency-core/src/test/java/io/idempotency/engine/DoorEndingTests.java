package io.idempotency.engine;

import java.nio.charset.StandardCharsets;

import io.idempotency.codec.ResultCodec;
import io.idempotency.engine.ValueAction.ToldFailure;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What a door says of the end of a call, and what is made of a door that fails. */
class DoorEndingTests {

	private static final IllegalStateException WORK = new IllegalStateException("work");

	private static final IllegalStateException DOOR = new IllegalStateException("door");

	@Test
	void successIsWhatTheDoorMakesOfIt() {
		assertThat(Ending.ofSuccess(() -> Ending.OUT_OF_SIGHT)).isSameAs(Ending.OUT_OF_SIGHT);
	}

	@Test
	void successStaysOneIfTheDoorFails() {
		Ending ending = Ending.ofSuccess(() -> {
			throw DOOR;
		});
		assertThat(ending).isEqualTo(new Ending.DoneUnkept(DOOR));
	}

	@Test
	void failureIsWhatTheDoorMakesOfIt() {
		assertThat(Ending.ofFailure(WORK, Ending.NotRun::new)).isEqualTo(new Ending.NotRun(WORK));
	}

	@Test
	void failureOfTheWorkWinsIfTheDoorFailsToo() {
		IllegalStateException work = new IllegalStateException("work");
		Ending ending = Ending.ofFailure(work, (failure) -> {
			throw DOOR;
		});
		assertThat(ending).isEqualTo(new Ending.Failed(work, null));
		assertThat(work).hasSuppressedException(DOOR);
	}

	@Test
	void doorMayThrowTheFailureItself() {
		Ending ending = Ending.ofFailure(WORK, (failure) -> {
			throw WORK;
		});
		assertThat(ending).isEqualTo(new Ending.Failed(WORK, null));
	}

	@Test
	void failureThatTheClientWasToldIsInNoMessage() {
		ToldFailure failure = new ToldFailure("card 4711 is refused");
		assertThat(failure.text()).isEqualTo("card 4711 is refused");
		assertThat(failure).message().doesNotContain("4711");
	}

	@Test
	void codecComparesByTheStoredFormUnlessItKnowsBetter() {
		ResultCodec codec = new TextCodec();
		assertThat(codec.incomparable(String.class)).isNull();
		assertThat(codec.comparable("same")).asString(StandardCharsets.US_ASCII).isEqualTo("=same");
	}

}
