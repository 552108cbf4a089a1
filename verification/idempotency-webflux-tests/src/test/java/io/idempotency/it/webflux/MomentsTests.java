package io.idempotency.it.webflux;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.Scenario;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ForwardingIdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What happens between the first byte of a request and the last one of its answer, at
 * moments that a store and a handler hold still. Hang-ups before the claim and in the
 * handler are in {@link HangUpTests}.
 */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@Import(MomentsTests.Held.class)
class MomentsTests {

	private final String key = UUID.randomUUID().toString();

	@Autowired
	private HeldStore store;

	@Value("${local.server.port}")
	private int port;

	private Answer send(String path) {
		return new Client(this.port).post(path, this.key, "application/json", "");
	}

	private CompletableFuture<Answer> begin(String path) {
		return CompletableFuture.supplyAsync(() -> send(path), (task) -> new Thread(task).start());
	}

	@ParameterizedTest
	@EnumSource
	void clientHangsUp(Moment moment) throws Exception {
		Hold hold = new Hold(moment, this.key);
		this.store.hold = hold;
		AnswersController.rendering = () -> Hold.at(hold, Moment.RENDERING, this.key);
		try (RawClient client = new RawClient(this.port)) {
			client.send("/rendered", this.key, "", 0, "");
			hold.reached.await();
		}
		await().until(() -> runs("gone " + this.key) == 1);
		hold.over.countDown();
		Answer repeated = await().until(() -> send("/rendered"), (answer) -> answer.status() != 409);
		assertThat(repeated.text()).isEqualTo("{\"run\":1}");
		assertThat(repeated.replayed()).isEqualTo(moment != Moment.CLAIM);
		assertThat(runs("rendered " + this.key)).isEqualTo(1);
	}

	@Test
	void clientHangsUpWhenItWasAnswered() throws Exception {
		try (RawClient client = new RawClient(this.port)) {
			client.send("/rendered", this.key, "", 0, "").awaitAnswer();
		}
		assertThat(send("/rendered").replayed()).isTrue();
		assertThat(runs("rendered " + this.key)).isEqualTo(1);
	}

	@Test
	void immediateRetryMeetsAFinishedRecord() throws Exception {
		Hold hold = new Hold(Moment.COMPLETION, this.key);
		this.store.hold = hold;
		CompletableFuture<Answer> first = begin("/rendered");
		hold.reached.await();
		Scenario.assertCode(send("/rendered"), 409, "in-progress");
		assertThat(first).as("nothing is sent before the record is there").isNotDone();
		hold.over.countDown();
		assertThat(first.get().status()).isEqualTo(200);
		assertThat(send("/rendered").replayed()).isTrue();
	}

	@Test
	void completionThatFailsKeepsNobodyFromTheAnswerAndIsRepeated() {
		this.store.failing = this.key;
		Answer first = send("/rendered");
		assertThat(first.text()).isEqualTo("{\"run\":1}");
		Scenario.assertCode(send("/rendered"), 409, "in-progress");
		this.store.failing = "";
		Answer repeated = await().until(() -> send("/rendered"), (answer) -> answer.status() != 409);
		assertThat(repeated.replayed()).isTrue();
		assertThat(repeated.body()).isEqualTo(first.body());
		assertThat(runs("rendered " + this.key)).isEqualTo(1);
	}

	/** Whoever has waited for nothing has its result, too. */
	@Test
	void emptyResultEndsAWait() throws Exception {
		Hold hold = new Hold(Moment.COMPLETION, this.key);
		this.store.hold = hold;
		CompletableFuture<Answer> first = begin("/empty-waiting");
		hold.reached.await();
		int claims = this.store.claims;
		CompletableFuture<Answer> waiting = begin("/empty-waiting");
		await().until(() -> this.store.claims > claims);
		hold.over.countDown();
		assertThat(first.get().status()).isEqualTo(200);
		assertThat(waiting.get().status()).isEqualTo(200);
		assertThat(waiting.get().replayed()).isTrue();
		assertThat(waiting.get().body()).isEmpty();
		assertThat(runs("empty-waiting " + this.key)).isEqualTo(1);
	}

	enum Moment {

		CLAIM, RENDERING, COMPLETION, COMPLETED

	}

	/** A moment at which the call of a key stands still. */
	static final class Hold {

		private final Moment moment;

		private final String key;

		final CountDownLatch reached = new CountDownLatch(1);

		final CountDownLatch over = new CountDownLatch(1);

		Hold(Moment moment, String key) {
			this.moment = moment;
			this.key = key;
		}

		static void at(@Nullable Hold hold, Moment moment, String key) {
			if (hold == null || hold.moment != moment || !key.contains(hold.key) || hold.reached.getCount() == 0) {
				return;
			}
			hold.reached.countDown();
			try {
				hold.over.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

	/** A store that blocks, so that it is asked on threads that may stand still. */
	static final class HeldStore extends ForwardingIdempotencyStore {

		volatile @Nullable Hold hold;

		volatile String failing = "";

		volatile int claims;

		HeldStore() {
			super(new MemoryIdempotencyStore(10_000_000));
		}

		@Override
		public ClaimResult claim(ClaimRequest request) {
			this.claims++;
			ClaimResult result = super.claim(request);
			Hold.at(this.hold, Moment.CLAIM, request.key().value());
			return result;
		}

		@Override
		public boolean complete(Completion completion) {
			String key = completion.claim().key().value();
			if (!this.failing.isEmpty() && key.contains(this.failing)) {
				throw new IllegalStateException("The store is away");
			}
			Hold.at(this.hold, Moment.COMPLETION, key);
			boolean completed = super.complete(completion);
			Hold.at(this.hold, Moment.COMPLETED, key);
			return completed;
		}

	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Held {

		@Bean
		HeldStore heldStore() {
			return new HeldStore();
		}

	}

}
