package io.idempotency.engine;

import java.util.List;
import java.util.concurrent.Future;

import io.idempotency.IdempotencyEvent;
import io.idempotency.engine.ScriptedStore.Verb;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Very many duplicates of one call at the same time.
 */
class StormTests {

	private final EngineFixture node = new EngineFixture(64);

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void sixtyFourDuplicatesThatWaitGetTheResultOfOneRun() throws Exception {
		TestAction<String> door = TestAction.running(() -> {
			await().pollInSameThread().until(() -> this.node.store.count(Verb.CLAIM) >= 64);
			return "one";
		});
		List<Future<String>> calls = this.node.start(64, TestPolicy.replay().waiting(), door);
		for (Future<String> call : calls) {
			assertThat(call.get()).isEqualTo("one");
		}
		assertThat(door.runs()).isOne();
		assertThat(this.node.store.count(Verb.COMPLETE)).isOne();
		assertThat(this.node.events.count(IdempotencyEvent.EXECUTED)).isOne();
		assertThat(this.node.events.count(IdempotencyEvent.REPLAYED)).isEqualTo(63);
		assertThat(this.node.events.all()).hasSize(64);
	}

}
