package io.idempotency.it.schemes;

import java.util.List;
import java.util.Map;

import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.it.client.Answer;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A unique index of the business data as the last line. */
interface DuplicateOnScheme extends Scheme {

	private Answer indexed(String key) {
		return stage().post("/indexed/" + stage().id(), key + stage().id());
	}

	private Answer recovered(String key) {
		return stage().post("/indexed/" + stage().id() + "/recover", key + stage().id());
	}

	private String recoveredMethod(String key) {
		return stage().recoveries().recovered(key + stage().id(), stage().id());
	}

	@Test
	default void uniqueIndexMakesOneOfCallsWithDifferentKeys() {
		stage().effect().allowOnlyOne();
		List<Answer> answers = ConcurrentDuplicates.of(Stage.STORM).run((i) -> recovered("k" + i)).valuesOrFail();
		assertThat(answers).allSatisfy((answer) -> assertThat(answer.status()).as("%s", answer).isEqualTo(201))
			.allSatisfy((answer) -> assertThat(answer.text()).isEqualTo("run 1"));
		assertThat(answers).filteredOn((answer) -> !answer.replayed()).hasSize(1);
		Expect.replayed(recovered("k0"), 201, "run 1");
	}

	@Test
	default void uniqueIndexMakesOneOfCallsOfAMethodWithDifferentKeys() {
		stage().effect().allowOnlyOne();
		assertThat(ConcurrentDuplicates.of(Stage.STORM).run((i) -> recoveredMethod("k" + i)).valuesOrFail())
			.containsOnly("run 1");
	}

	@Test
	default void recoveredResultIsStoredAndReplayed() {
		CountingStore store = stage().store();
		stage().effect().failNextRun(new AlreadyThereException());
		stage().effect().willBeFound("order 7");
		assertThat(store.roundTripsOf(() -> Expect.replayed(recovered("k"), 201, "order 7")))
			.isEqualTo(Map.of("claim", 1, "complete", 1));
		stage().effect().willBeFound("another");
		assertThat(store.roundTripsOf(() -> Expect.replayed(recovered("k"), 201, "order 7")))
			.isEqualTo(Map.of("claim", 1));
		assertThat(stage().effect().runs()).isEqualTo(1);
		assertThat(stage().effect().lookUps()).isEqualTo(1);
	}

	@Test
	default void duplicateThatAFutureTellsIsADuplicateToo() {
		stage().effect().failNextRun(new AlreadyThereException());
		stage().effect().willBeFound("order 7");
		String path = "/indexed/" + stage().id();
		Expect.replayed(stage().post(path + "/recover-later", "k" + stage().id()), 201, "order 7");
		stage().effect().willBeFound("another");
		Expect.replayed(stage().post(path + "/recover-later", "k" + stage().id()), 201, "order 7");
		stage().effect().failNextRun(new AlreadyThereException());
		Expect.problem(stage().post(path + "/later", "k" + stage().id()), 409, "result-unavailable");
		Expect.problem(stage().post(path + "/later", "k" + stage().id()), 409, "result-unavailable");
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThat(stage().post(path + "/later", "other" + stage().id()).status()).isEqualTo(500);
		assertThat(stage().post(path + "/later", "other" + stage().id()).status()).isEqualTo(201);
		assertThat(stage().effect().runs()).isEqualTo(4);
	}

	@Test
	default void recoveredResultOfAMethodIsStoredAndReplayed() {
		stage().effect().failNextRun(new AlreadyThereException());
		stage().effect().willBeFound("order 7");
		assertThat(recoveredMethod("k")).isEqualTo("order 7");
		stage().effect().willBeFound("another");
		assertThat(recoveredMethod("k")).isEqualTo("order 7");
		assertThat(stage().effect().runs()).isEqualTo(1);
		assertThat(stage().effect().lookUps()).isEqualTo(1);
	}

	@Test
	default void duplicateWithoutAResultIsNeverRunAgain() {
		stage().effect().failNextRun(new AlreadyThereException());
		Expect.problem(indexed("k"), 409, "result-unavailable");
		Expect.problem(indexed("k"), 409, "result-unavailable");
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

	@Test
	default void duplicateOfAMethodWithoutAResultIsNeverRunAgain() {
		stage().effect().failNextRun(new AlreadyThereException());
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
				.isThrownBy(() -> stage().recoveries().indexed(stage().id(), stage().id()));
		}
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

	@Test
	default void failsWhenRecoverDoesNotFindTheResult() {
		stage().effect().failNextRun(new AlreadyThereException());
		assertThat(recovered("k").status()).isEqualTo(500);
		Expect.executed(recovered("k"), 201, "run 2");
		stage().effect().failNextRun(new AlreadyThereException());
		assertThatExceptionOfType(AlreadyThereException.class).isThrownBy(() -> recoveredMethod("k"));
		assertThat(recoveredMethod("k")).isEqualTo("run 4");
	}

	@Test
	default void resultThatIsFoundLaterIsAnsweredAsAReplay() {
		stage().effect().failNextRun(new AlreadyThereException());
		stage().effect().failNextLookUp();
		Expect.problem(recovered("k"), 409, "result-unavailable");
		stage().effect().willBeFound("order 7");
		Expect.replayed(recovered("k"), 201, "order 7");
		assertThat(recoveredMethodAfterCompletionWithoutResult()).isEqualTo("order 7");
		assertThat(stage().effect().runs()).isEqualTo(2);
	}

	private String recoveredMethodAfterCompletionWithoutResult() {
		stage().effect().failNextRun(new AlreadyThereException());
		return recoveredMethod("k");
	}

	@Test
	default void otherFailureIsAFailure() {
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThat(indexed("k").status()).isEqualTo(500);
		Expect.executed(indexed("k"), 201, "run 2");
	}

}
