package io.idempotency.store.memory;

import java.time.Duration;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryIdempotencyStoreTests {

	private final MemoryIdempotencyStore store = new MemoryIdempotencyStore(1_000_000);

	@Test
	void completedCallIsReplayed() {
		StoredResult result = new StoredResult("text", new byte[] { 1, 2, 3 });
		ClaimResult first = this.store.claim(request("a"));
		assertThat(first).isInstanceOf(ClaimResult.Acquired.class);
		assertThat(this.store.claim(request("a"))).isInstanceOf(ClaimResult.InProgress.class);
		Completion completion = Completion.result(((ClaimResult.Acquired) first).claim(), Fingerprint.NONE, result,
				Duration.ofHours(1));
		assertThat(this.store.complete(completion)).isTrue();
		ClaimResult replay = this.store.claim(request("a"));
		assertThat(replay).isInstanceOf(ClaimResult.Completed.class);
		assertThat(((ClaimResult.Completed) replay).result()).isEqualTo(result);
	}

	private static ClaimRequest request(String key) {
		return new ClaimRequest(IdempotencyKey.of("orders", Caller.GLOBAL, key), ClaimId.random(), Fingerprint.NONE,
				ClaimType.LEASED, Duration.ofSeconds(30), Duration.ofHours(24), true);
	}

}
