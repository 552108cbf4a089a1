package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * {@code wait-replicas} in a cluster, of which each test has its own.
 */
@Requires(Backend.REDIS)
@Execution(ExecutionMode.CONCURRENT)
class RedisClusterReplicationTests {

	private static final Duration WAIT = Duration.ofSeconds(30);

	@Test
	void lettuceWaitsForTheReplicaOfTheKeysMaster() {
		try (RedisClusterServers cluster = RedisClusterServers.startWithReplicas(RedisBinary.REDIS_7_0)) {
			withConnections(RedisClients.lettuce(cluster), (connections) -> {
				RedisIdempotencyStore store = new RedisIdempotencyStore(connections, "test:", 1, WAIT,
						RedisClients.PATIENT);
				store.verify();
				List<ClaimRequest> requests = Stream.generate(Requests::claim).limit(30).toList();
				requests.forEach((request) -> Requests.acquire(store, request));
				store.close();
				cluster.replicas().forEach(RedisServer::pause);
				RedisIdempotencyStore impatient = new RedisIdempotencyStore(connections, "test:", 1,
						Duration.ofMillis(20), RedisClients.PATIENT);
				for (ClaimRequest request : requests) {
					assertThatExceptionOfType(IdempotencyStoreException.class)
						.isThrownBy(() -> impatient
							.complete(Requests.result(new Claim(request.key(), request.claimId(), 1, false))))
						.withMessageContaining("Only 0 of 1");
				}
				impatient.close();
				cluster.replicas().forEach(RedisServer::resume);
			});
		}
	}

	@Test
	void lettuceFollowsASlotThatWasMoved() {
		withReplicas((cluster, store) -> {
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
			// What is known now need not be found out again by those who come later.
			cluster.beginMove(slot, to, from);
			cluster.endMove(slot, from);
			assertThat(store.claim(Requests.claim(request.key()))).isInstanceOf(ClaimResult.Completed.class);
		});
	}

	@Test
	void lettuceFollowsASlotThatIsBeingMoved() {
		withReplicas((cluster, store) -> {
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

	private void withReplicas(BiConsumer<RedisClusterServers, RedisIdempotencyStore> test) {
		try (RedisClusterServers cluster = RedisClusterServers.startWithReplicas(RedisBinary.REDIS_7_0)) {
			withConnections(RedisClients.lettuce(cluster), (connections) -> {
				try (RedisIdempotencyStore store = new RedisIdempotencyStore(connections, "test:", 1, WAIT,
						RedisClients.PATIENT)) {
					test.accept(cluster, store);
				}
			});
		}
	}

	@Test
	void jedisCannotWaitAndSaysSo() {
		try (RedisClusterServers cluster = RedisClusterServers.start(RedisBinary.REDIS_7_0)) {
			withConnections(RedisClients.jedis(cluster), (connections) -> {
				RedisIdempotencyStore store = new RedisIdempotencyStore(connections, "test:", 1, WAIT,
						RedisClients.PATIENT);
				assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(store::verify)
					.withMessageContaining("idempotency.redis.wait-replicas");
				assertThatExceptionOfType(IdempotencyStoreException.class)
					.isThrownBy(() -> store.claim(Requests.claim()))
					.withMessageContaining("Lettuce");
			});
		}
	}

	private static void withConnections(RedisConnectionFactory connections, Consumer<RedisConnectionFactory> test) {
		try {
			test.accept(connections);
		}
		finally {
			try {
				((DisposableBean) connections).destroy();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}
	}

}
