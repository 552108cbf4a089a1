package io.idempotency.it.schemes;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.RememberedFailureException;
import io.idempotency.it.client.Answer;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** An identifier that the page made: the first wins, the others are counted. */
interface RejectScheme extends Scheme {

	private Answer page(String pageId) {
		return stage().form("/pages/" + stage().id(), "pageId=" + pageId + stage().id());
	}

	private Answer rememberedPage(String pageId) {
		return stage().form("/pages/" + stage().id() + "/remember", "pageId=" + pageId + stage().id());
	}

	@Test
	default void firstPageWinsAndTheOthersAreCounted() {
		List<Answer> answers = ConcurrentDuplicates.of(Stage.STORM).run((i) -> page("p1")).valuesOrFail();
		assertThat(stage().effect().runs()).isEqualTo(1);
		List<Answer> rejected = answers.stream().filter((answer) -> answer.status() != 200).toList();
		assertThat(rejected).hasSize(Stage.STORM - 1).allSatisfy((answer) -> Expect.problem(answer, 409, "duplicate"));
		assertThat(rejected).extracting(Expect::attempts)
			.containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(2, Stage.STORM).boxed().toList());
		assertThat(Expect.attempts(page("p1"))).isEqualTo(Stage.STORM + 1);
		Expect.executed(page("p2"), "run 2");
	}

	@Test
	default void firstCallOfAMethodWinsAndTheOthersAreCounted() {
		ConcurrentDuplicates.Result<String> storm = ConcurrentDuplicates.of(Stage.STORM)
			.run((i) -> stage().methods().once(stage().id()));
		assertThat(storm.values()).containsExactly("run 1");
		assertThat(storm.failures())
			.allSatisfy((failure) -> assertThat(failure).isInstanceOf(IdempotencyDuplicateException.class));
		assertThat(storm.failures()).extracting((failure) -> (int) ((IdempotencyDuplicateException) failure).attempts())
			.containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(2, Stage.STORM).boxed().toList());
	}

	@Test
	default void rejectTakesOneRoundTripFreshOrNot() {
		CountingStore store = stage().store();
		assertThat(store.roundTripsOf(() -> Expect.executed(page("p1"), "run 1"))).isEqualTo(Map.of("claim", 1));
		assertThat(store.roundTripsOf(() -> Expect.problem(page("p1"), 409, "duplicate")))
			.isEqualTo(Map.of("claim", 1));
		assertThat(store.roundTripsOf(() -> stage().methods().once(stage().id()))).isEqualTo(Map.of("claim", 1));
	}

	@Test
	default void duplicateIsRejectedWhileTheFirstRuns() {
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<Answer> first = stage().start(() -> page("p1"));
		stage().effect().awaitStart();
		Expect.problem(page("p1"), 409, "duplicate");
		gate.countDown();
		Expect.executed(first.join(), "run 1");
	}

	@Test
	default void failedPageMayBeSentAgain() {
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThat(stage().store().roundTripsOf(() -> assertThat(page("p1").status()).isEqualTo(500)))
			.isEqualTo(Map.of("claim", 1, "release", 1));
		Expect.executed(page("p1"), "run 2");
		Answer duplicate = page("p1");
		Expect.problem(duplicate, 409, "duplicate");
		assertThat(Expect.attempts(duplicate)).isEqualTo(2);
	}

	@Test
	default void pageWhoseFailureIsRememberedNeedsANewId() {
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThat(stage().store().roundTripsOf(() -> assertThat(rememberedPage("p1").status()).isEqualTo(500)))
			.isEqualTo(Map.of("claim", 1));
		Answer duplicate = rememberedPage("p1");
		Expect.problem(duplicate, 409, "duplicate");
		assertThat(duplicate.text()).contains("if the first one failed, use a new key");
		assertThat(stage().effect().runs()).isEqualTo(1);
		Expect.executed(rememberedPage("p2"), "run 2");
	}

	@Test
	default void methodWhoseFailureIsRememberedNeedsANewKey() {
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThatIllegalStateException().isThrownBy(() -> stage().methods().onceRemembered(stage().id()));
		assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> stage().methods().onceRemembered(stage().id()))
			.withMessageContaining("if the first one failed, use a new key");
	}

	@Test
	default void failedMethodMayBeCalledAgain() {
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThatIllegalStateException().isThrownBy(() -> stage().methods().once(stage().id()));
		assertThat(stage().methods().once(stage().id())).isEqualTo("run 2");
	}

	@Test
	default void rememberedFailureOfAMethodIsReplayed() {
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThatIllegalStateException().isThrownBy(() -> stage().methods().remembered(stage().id()));
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> stage().methods().remembered(stage().id()))
			.withMessage("no stock");
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

}
