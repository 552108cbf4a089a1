package io.idempotency.it.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.it.store.Requests;
import io.idempotency.store.ClaimId;
import io.idempotency.store.Renewal;
import io.idempotency.store.UnreadableRecordException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Many renewals at once, on each kind of server through both clients.
 */
@EachRedis({ Redis.Kind.CLIENT, Redis.Kind.CLUSTER })
class RedisRenewAllTests {

	private final TestRedis redis;

	private final RedisRenewals node;

	RedisRenewAllTests(TestRedis redis) {
		this.redis = redis;
		this.node = new RedisRenewals(redis);
	}

	@AfterEach
	void close() throws Exception {
		this.node.close();
	}

	@Test
	void rejectedOnesAreNamedAndTheOthersLiveOn() {
		List<Renewal> renewals = new ArrayList<>(this.node.claims(30));
		Renewal released = renewals.get(3);
		this.node.store().release(released.key(), released.claimId());
		Renewal unknown = new Renewal(Requests.key(), ClaimId.random(), RedisRenewals.DAY);
		renewals.add(11, unknown);
		assertThat(this.node.store().renewAll(renewals)).containsExactlyInAnyOrder(released.claimId(),
				unknown.claimId());
		renewals.removeAll(List.of(released, unknown));
		assertThat(renewals).allSatisfy((renewal) -> assertThat(timeToLive(renewal)).isGreaterThan(RedisRenewals.HOUR));
	}

	@Test
	void noneIsLostWhereTheScriptIsUnknown() {
		List<Renewal> renewals = this.node.claims(60);
		this.redis.masters().forEach((server) -> server.command("SCRIPT", "FLUSH"));
		assertThat(this.node.store().renewAll(renewals)).isEmpty();
		assertThat(renewals).allSatisfy((renewal) -> assertThat(timeToLive(renewal)).isGreaterThan(RedisRenewals.HOUR));
		assertThat(this.node.store().renewAll(renewals)).isEmpty();
	}

	@Test
	void recordThatCannotBeReadFailsTheCall() {
		List<Renewal> renewals = this.node.claims(5);
		this.redis.masters().forEach((server) -> {
			try {
				server.command("SET", RedisRecords.key(renewals.get(2).key()), "\u0004whatever comes then");
			}
			catch (RuntimeException ex) {
				assertThat(ex).hasStackTraceContaining("MOVED");
			}
		});
		assertThatExceptionOfType(UnreadableRecordException.class)
			.isThrownBy(() -> this.node.store().renewAll(renewals))
			.withMessageContaining("'renew'")
			.satisfies((ex) -> assertThat(ex).rootCause().hasMessageContaining("version 4"));
	}

	@Test
	void nothingToRenewIsNothingRejected() {
		assertThat(this.node.store().renewAll(List.of())).isEmpty();
	}

	private Duration timeToLive(Renewal renewal) {
		return this.redis.masters().stream().map((server) -> {
			try {
				return Duration.ofMillis((Long) server.command("PTTL", RedisRecords.key(renewal.key())));
			}
			catch (RuntimeException ex) {
				assertThat(ex).hasStackTraceContaining("MOVED");
				return Duration.ZERO;
			}
		}).max(Duration::compareTo).orElseThrow();
	}

}
