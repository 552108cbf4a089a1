package io.idempotency.it.schemes;

import java.time.Duration;
import java.util.List;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.it.client.Answer;
import io.idempotency.store.ClaimType;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Keys made of business fields: one order a minute of the same product by the same user,
 * and the sequence numbers of a source.
 */
interface BusinessKeyScheme extends Scheme {

	private Answer order(String user, String product) {
		return stage().post("/dedup/" + stage().id() + "?userId=" + user + stage().id() + "&productId=" + product,
				"unused");
	}

	private Answer message(String source, String sequence, String body) {
		return stage().client()
			.post("/sources/" + stage().id(), "unused", "text/plain", body,
					(request) -> request.header("X-Source", source + stage().id()).header("X-Sequence", sequence));
	}

	@Test
	default void oneOrderAMinuteForAUserAndAProduct() {
		List<Answer> answers = ConcurrentDuplicates.of(Stage.STORM).run((i) -> order("u1", "p1")).valuesOrFail();
		assertThat(stage().effect().runs()).isEqualTo(1);
		assertThat(answers).filteredOn((answer) -> answer.status() != 200)
			.hasSize(Stage.STORM - 1)
			.allSatisfy((answer) -> Expect.problem(answer, 409, "duplicate"));
		assertThat(stage().store().lastClaim().retention()).isEqualTo(Duration.ofMinutes(1));
		assertThat(stage().store().lastClaim().type()).isEqualTo(ClaimType.ONCE);
		Expect.executed(order("u1", "p2"), "run 2");
		Expect.executed(order("u2", "p1"), "run 3");
	}

	@Test
	default void fieldsOfAKeyAreToldApart() {
		SchemeMethods methods = stage().methods();
		String id = stage().id();
		assertThat(methods.dedup(id + "ab", "c", id)).isEqualTo("run 1");
		assertThat(methods.dedup(id + "a", "bc", id)).isEqualTo("run 2");
		assertThat(methods.dedup(id + "a,b", "c", id)).isEqualTo("run 3");
		assertThat(methods.dedup(id + "a", "b,c", id)).isEqualTo("run 4");
		assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> methods.dedup(id + "a", "bc", id));
	}

	@Test
	default void sequenceNumberOfASourceIsHandledOnce() {
		List<Answer> answers = ConcurrentDuplicates.of(Stage.STORM).run((i) -> message("a", "7", "x")).valuesOrFail();
		assertThat(stage().effect().runs()).isEqualTo(1);
		assertThat(answers).filteredOn((answer) -> answer.status() == 200)
			.isNotEmpty()
			.allSatisfy((answer) -> assertThat(answer.text()).isEqualTo("run 1"));
		assertThat(answers).filteredOn((answer) -> answer.status() != 200).allSatisfy(Expect::inProgress);
		Expect.replayed(message("a", "7", "x"), "run 1");
		Expect.executed(message("a", "8", "x"), "run 2");
		Expect.executed(message("b", "7", "x"), "run 3");
		Expect.problem(message("a", "7", "y"), 422, "key-reused");
	}

	@Test
	default void sequenceNumberOfASourceIsHandledOnceByAMethod() {
		SchemeMethods methods = stage().methods();
		String id = stage().id();
		assertThat(methods.source(id + "a", 7, id)).isEqualTo("run 1");
		assertThat(methods.source(id + "a", 7, id)).isEqualTo("run 1");
		assertThat(methods.source(id + "a", 8, id)).isEqualTo("run 2");
		assertThat(methods.source(id + "b", 7, id)).isEqualTo("run 3");
	}

}
