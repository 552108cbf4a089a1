package io.idempotency.it.redis;

import java.util.function.BiConsumer;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Moves slots of a cluster. Each test has a cluster of its own.
 */
@Requires(Backend.REDIS)
@Execution(ExecutionMode.CONCURRENT)
class RedisClusterSlotMoveTests {

	@Test
	void lettuceFollowsASlotThatWasMoved() {
		withCluster((cluster, store) -> {
			ClaimRequest request = Requests.claim();
			int slot = cluster.slotOf(RedisRecords.key(request.key()));
			int from = cluster.firstOwnerOf(slot);
			int to = (from + 1) % 3;
			Claim claim = Requests.acquire(store, request);
			cluster.beginMove(slot, from, to);
			cluster.endMove(slot, to);
			assertThat(store.complete(Requests.result(claim))).isTrue();
			assertThat(RedisRecords.state(cluster.masters().get(to), claim)).isEqualTo('D');
			assertThat(store.claim(Requests.claim(request.key()))).isInstanceOf(ClaimResult.Completed.class);
			cluster.beginMove(slot, to, from);
			cluster.endMove(slot, from);
			assertThat(store.claim(Requests.claim(request.key()))).isInstanceOf(ClaimResult.Completed.class);
		});
	}

	@Test
	void lettuceFollowsASlotThatIsBeingMoved() {
		withCluster((cluster, store) -> {
			ClaimRequest request = Requests.claim();
			int slot = cluster.slotOf(RedisRecords.key(request.key()));
			int from = cluster.firstOwnerOf(slot);
			int to = (from + 1) % 3;
			Requests.acquire(store, Requests.claim());
			cluster.beginMove(slot, from, to);
			Claim claim = Requests.acquire(store, request);
			assertThat(store.complete(Requests.result(claim))).isTrue();
			assertThat(store.claim(Requests.claim(request.key()))).isInstanceOf(ClaimResult.Completed.class);
			cluster.endMove(slot, to);
			assertThat(RedisRecords.state(cluster.masters().get(to), claim)).isEqualTo('D');
			assertThat(store.claim(Requests.claim(request.key()))).isInstanceOf(ClaimResult.Completed.class);
		});
	}

	private static void withCluster(BiConsumer<RedisClusterServers, RedisIdempotencyStore> test) {
		try (RedisClusterServers cluster = RedisClusterServers.start(RedisBinary.REDIS_7_0)) {
			LettuceConnectionFactory connections = RedisClients.lettuce(cluster);
			try (RedisIdempotencyStore store = new RedisIdempotencyStore(connections, "test:", RedisClients.PATIENT)) {
				test.accept(cluster, store);
			}
			finally {
				connections.destroy();
			}
		}
	}

}
