package io.idempotency.it.redis;

import java.util.List;

import io.idempotency.store.Renewal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many renewals at once on a cluster that is being changed, through both clients.
 */
@EachRedis(Redis.Kind.CLUSTER)
class RedisRenewAllMovedSlotTests {

	private final TestRedis redis;

	private final RedisRenewals node;

	RedisRenewAllMovedSlotTests(TestRedis redis) {
		this.redis = redis;
		this.node = new RedisRenewals(redis);
	}

	@AfterEach
	void close() throws Exception {
		this.node.close();
	}

	@Test
	void slotThatWasMovedIsFollowed() {
		List<Renewal> renewals = this.node.claims(20);
		int slot = this.redis.cluster().slotOf(RedisRecords.key(renewals.get(7).key()));
		int from = this.redis.cluster().firstOwnerOf(slot);
		int to = (from + 1) % 3;
		this.redis.cluster().beginMove(slot, from, to);
		assertThat(this.node.store().renewAll(renewals)).isEmpty();
		this.redis.cluster().endMove(slot, to);
		assertThat(this.node.store().renewAll(renewals)).isEmpty();
	}

}
