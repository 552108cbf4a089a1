package io.idempotency.it.schemes;

import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tokens that the service hands out beforehand. */
interface IssuedTokenScheme extends Scheme {

	private String path() {
		return "/tokens/" + stage().id();
	}

	private String issue() {
		return issue((request) -> {
		});
	}

	default String issue(Consumer<HttpRequest.Builder> caller) {
		Answer answer = stage().post("/idempotency/tokens", "unused", caller);
		assertThat(answer.status()).as("%s", answer).isEqualTo(201);
		assertThat(answer.header("Cache-Control")).isEqualTo("no-store");
		assertThat(answer.text()).matches("\\{\"token\":\"[^\"]+\",\"expiresAt\":\"[^\"]+Z\"}");
		return answer.text().replaceFirst("\\{\"token\":\"([^\"]+)\".*", "$1");
	}

	@Test
	default void duplicatesOfATokenHaveOneEffect() {
		String token = issue();
		List<Answer> answers = ConcurrentDuplicates.of(Stage.STORM)
			.run((i) -> stage().post(path(), token))
			.valuesOrFail();
		assertThat(stage().effect().runs()).isEqualTo(1);
		assertThat(answers).filteredOn((answer) -> answer.status() == 200 && !answer.replayed()).hasSize(1);
		assertThat(answers).filteredOn((answer) -> answer.status() != 200).allSatisfy(Expect::inProgress);
		assertThat(answers).filteredOn((answer) -> answer.status() == 200)
			.allSatisfy((answer) -> assertThat(answer.text()).isEqualTo("run 1"));
		Expect.replayed(stage().post(path(), token), "run 1");
	}

	@Test
	default void tokenTakesOneRoundTripToIssueTwoToUseAndOneForADuplicate() {
		CountingStore store = stage().store();
		String token = issue();
		assertThat(store.roundTripsOf(this::issue)).isEqualTo(Map.of("issue", 1));
		assertThat(store.roundTripsOf(() -> Expect.executed(stage().post(path(), token), "run 1")))
			.isEqualTo(Map.of("claim", 1, "complete", 1));
		assertThat(store.roundTripsOf(() -> Expect.replayed(stage().post(path(), token), "run 1")))
			.isEqualTo(Map.of("claim", 1));
		assertThat(store.roundTripsOf(() -> Expect.problem(stage().post(path(), "unknown"), 400, "token-unknown")))
			.isEqualTo(Map.of("claim", 1));
	}

	@Test
	default void tokenMayStandInAFormOrInJson() {
		String form = issue();
		Expect.executed(stage().form(path() + "/form", "sku=one&token=" + form), "one run 1");
		Expect.replayed(stage().form(path() + "/form", "token=" + form + "&sku=one"), "one run 1");
		Expect.problem(stage().form(path() + "/form", "sku=one&token=unknown"), 400, "token-unknown");
		Expect.problem(stage().form(path() + "/form", "sku=two&token=" + form), 422, "key-reused");
		Expect.problem(stage().form(path() + "/form", "sku=one"), 400, "key-missing");
		String body = "{\"sku\":\"two\",\"meta\":{\"token\":\"" + issue() + "\"}}";
		for (int i = 0; i < 2; i++) {
			Answer answer = stage().client().post(path() + "/json", "unused", "application/json", body);
			assertThat(answer.text()).isEqualTo("two run 2");
			assertThat(answer.replayed()).isEqualTo(i == 1);
		}
	}

	@Test
	default void duplicatesOfAMethodWithATokenHaveOneEffect() {
		String token = UUID.randomUUID().toString();
		stage().store().issue(IdempotencyKey.ofToken(Caller.GLOBAL, token), Duration.ofMinutes(10));
		ConcurrentDuplicates.Result<String> storm = ConcurrentDuplicates.of(Stage.STORM)
			.run((i) -> stage().methods().token(token, stage().id()));
		assertThat(storm.values()).isNotEmpty().containsOnly("run 1");
		assertThat(storm.failures()).hasSize(Stage.STORM - storm.values().size())
			.hasOnlyElementsOfType(IdempotencyInProgressException.class);
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

	@Test
	default void tokenThatTheApplicationIssuesItselfIsAsGood() {
		String token = stage().post("/tokens/own", "unused", Client.as("alice")).text();
		Expect.executed(stage().post(path(), token, Client.as("alice")), "run 1");
		Expect.replayed(stage().post(path(), token, Client.as("alice")), "run 1");
	}

	@Test
	default void tokenBelongsToItsCaller() {
		String token = issue(Client.as("alice"));
		Expect.problem(stage().post(path(), token, Client.as("bob")), 400, "token-unknown");
		Expect.problem(stage().post(path(), token), 400, "token-unknown");
		Expect.executed(stage().post(path(), token, Client.as("alice")), "run 1");
		Expect.problem(stage().post(path(), token, Client.as("bob")), 400, "token-unknown");
		Expect.problem(stage().post(path(), issue(), Client.as("alice")), 400, "token-unknown");
	}

	@Test
	default void tokenIsBoundToTheFirstRequestThatUsesIt() {
		String token = issue();
		CountDownLatch gate = stage().effect().holdNextRun();
		CompletableFuture<Answer> first = stage().start(() -> stage().post(path(), token));
		stage().effect().awaitStart();
		Expect.problem(stage().post(path() + "/elsewhere", token), 422, "key-reused");
		Expect.inProgress(stage().post(path(), token));
		gate.countDown();
		Expect.executed(first.join(), "run 1");
		Expect.problem(stage().post(path() + "/elsewhere", token), 422, "key-reused");
		Expect.problem(stage().post("/tokens/another", token), 422, "key-reused");
		Expect.replayed(stage().post(path(), token), "run 1");
		assertThat(stage().effect().runs()).isEqualTo(1);
	}

	@Test
	default void expiredTokenIsUnknownAndAUsedOneOutlivesItsTime() {
		String expired = UUID.randomUUID().toString();
		String used = UUID.randomUUID().toString();
		IdempotencyKey key = IdempotencyKey.ofToken(Caller.ANONYMOUS, used);
		stage().store().issue(IdempotencyKey.ofToken(Caller.ANONYMOUS, expired), Duration.ofMillis(1));
		CountDownLatch gate = stage().effect().holdNextRun();
		stage().store().issue(key, Duration.ofMinutes(1));
		CompletableFuture<Answer> first = stage().start(() -> stage().post(path(), used));
		stage().effect().awaitStart();
		await().untilAsserted(() -> Expect.problem(stage().post(path() + "/elsewhere", expired), 400, "token-unknown"));
		gate.countDown();
		Expect.executed(first.join(), "run 1");
		Expect.replayed(stage().post(path(), used), "run 1");
	}

	@Test
	default void failedCallGivesTheTokenBack() {
		String token = issue();
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThat(stage().store().roundTripsOf(() -> assertThat(stage().post(path(), token).status()).isEqualTo(500)))
			.isEqualTo(Map.of("claim", 1, "release", 1));
		Expect.executed(stage().post(path() + "/elsewhere", token), "run 2");
		Expect.problem(stage().post(path(), token), 422, "key-reused");
		Expect.replayed(stage().post(path() + "/elsewhere", token), "run 2");
	}

	@Test
	default void rememberedFailureUsesTheTokenUp() {
		String token = issue();
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		Answer first = stage().post(path() + "/remember", token);
		Answer second = stage().post(path() + "/remember", token);
		assertThat(first.status()).isEqualTo(500);
		assertThat(second.status()).isEqualTo(500);
		assertThat(second.replayed()).isTrue();
		assertThat(stage().effect().runs()).isEqualTo(1);
		Expect.executed(stage().post(path() + "/remember", issue()), "run 2");
	}

	@Test
	default void tokenThatIsOnlyCheckedIsUsedUpToo() {
		String once = issue();
		assertThat(stage().store().roundTripsOf(() -> Expect.executed(stage().post(path() + "/once", once), "run 1")))
			.isEqualTo(Map.of("claim", 1));
		Expect.problem(stage().post(path() + "/once", once), 409, "duplicate");
		Expect.problem(stage().post(path() + "/once", "unknown"), 400, "token-unknown");
		String lock = issue();
		Expect.executed(stage().post(path() + "/lock", lock), "run 2");
		Expect.problem(stage().post(path() + "/lock", lock), 400, "token-unknown");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/once", "/lock" })
	default void tokenThatIsOnlyCheckedIsGivenBackToo(String mode) {
		String token = issue();
		stage().effect().failNextRun(new IllegalStateException("no stock"));
		assertThat(stage().post(path() + mode, token).status()).isEqualTo(500);
		Expect.executed(stage().post(path() + mode, token), "run 2");
	}

}
