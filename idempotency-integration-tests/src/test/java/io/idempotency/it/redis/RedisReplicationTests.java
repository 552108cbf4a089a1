package io.idempotency.it.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoredResult;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.RequiresRedis;
import io.idempotency.it.store.OwnThread;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * {@code wait-replicas}: a claim or a completion counts only when a replica has it.
 */
@RequiresRedis
class RedisReplicationTests {

	private static final Duration WAIT = Duration.ofSeconds(3);

	@Nested
	class Lettuce extends Replicated {

		@Override
		RedisConnectionFactory connect(RedisServer master) {
			return RedisClients.lettuce(master);
		}

	}

	@Nested
	class Jedis extends Replicated {

		@Override
		RedisConnectionFactory connect(RedisServer master) {
			return RedisClients.jedis(master);
		}

		/**
		 * A server counts the replicas that have the last write of the connection that
		 * asks, and one that has not written gets all of them. A newer Jedis takes a
		 * connection from its pool for each command: here somebody else always takes the
		 * one that has just run a script.
		 */
		@Test
		void claimIsWaitedForOnTheConnectionThatWroteIt() {
			List<RedisConnection> taken = new ArrayList<>();
			RedisConnectionFactory pool = connections();
			RedisConnectionFactory busy = mock(RedisConnectionFactory.class);
			given(busy.getConnection()).willAnswer((call) -> afterEachScript(pool.getConnection(), () -> {
				RedisConnection other = pool.getConnection();
				other.openPipeline();
				taken.add(other);
			}));
			try (RedisIdempotencyStore store = new RedisIdempotencyStore(busy, "test:", 1, Duration.ofMillis(300),
					RedisClients.PATIENT)) {
				acquire(store, request());
				replica().pause();
				assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.claim(request()))
					.withMessage("Only 0 of 1 Redis replicas have 'claim' after 300 ms");
				replica().resume();
			}
			finally {
				taken.forEach(RedisConnection::closePipeline);
				taken.forEach(RedisConnection::close);
			}
		}

		private static RedisConnection afterEachScript(RedisConnection connection, Runnable afterwards) {
			return (RedisConnection) Proxy.newProxyInstance(RedisConnection.class.getClassLoader(),
					new Class<?>[] { RedisConnection.class }, (proxy, method, arguments) -> {
						if (method.getName().equals("scriptingCommands")) {
							return proxy;
						}
						try {
							Object result = method.invoke(connection, arguments);
							if (method.getName().startsWith("eval")) {
								afterwards.run();
							}
							return result;
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

	}

	/** A master and a replica that can be made to stop following. */
	abstract static class Replicated {

		private RedisServer master;

		private RedisServer replica;

		private RedisConnectionFactory connections;

		private RedisIdempotencyStore store;

		abstract RedisConnectionFactory connect(RedisServer master);

		RedisConnectionFactory connections() {
			return this.connections;
		}

		RedisServer replica() {
			return this.replica;
		}

		@BeforeEach
		void start() {
			this.master = RedisServer.start(RedisBinary.REDIS_7_0);
			this.replica = RedisServer.start(RedisBinary.REDIS_7_0, "--replicaof", "127.0.0.1",
					Integer.toString(this.master.port()));
			await().atMost(Duration.ofSeconds(30))
				.until(() -> "up".equals(this.replica.info("replication").getProperty("master_link_status")));
			this.connections = connect(this.master);
			this.store = new RedisIdempotencyStore(this.connections, "test:", 1, WAIT, RedisClients.PATIENT);
		}

		@AfterEach
		void stop() throws Exception {
			this.store.close();
			((DisposableBean) this.connections).destroy();
			this.replica.close();
			this.master.close();
		}

		@Test
		void acceptedWritesAreOnTheReplica() {
			for (int i = 0; i < 50; i++) {
				ClaimRequest request = request();
				Claim claim = acquire(this.store, request);
				assertThat(state(this.replica, claim)).isEqualTo('R');
				assertThat(this.store.complete(completion(claim))).isTrue();
				assertThat(state(this.replica, claim)).isEqualTo('D');
			}
		}

		@Test
		void claimThatTheReplicaDoesNotHaveIsReleasedAndFails() {
			acquire(this.store, request());
			this.replica.pause();
			ClaimRequest request = request();
			assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> this.store.claim(request))
				.withMessage("Only 0 of 1 Redis replicas have 'claim' after 3000 ms");
			assertThat(this.master.command("GET", redisKey(request.key()))).isNull();
			this.replica.resume();
			assertThat(acquire(this.store, request).abandoned()).isFalse();
		}

		@Test
		void completionThatTheReplicaDoesNotHaveFailsUntilItHasIt() {
			Claim claim = acquire(this.store, request());
			this.replica.pause();
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> this.store.complete(completion(claim)))
				.withMessageContaining("'complete'");
			// Sent once more it finds itself, and must not take that for an answer of the
			// replica.
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> this.store.complete(completion(claim)));
			this.replica.resume();
			assertThat(this.store.complete(completion(claim))).isTrue();
			assertThat(state(this.replica, claim)).isEqualTo('D');
		}

		@Test
		void duplicatesAreAnsweredWithoutTheReplica() {
			Claim done = acquire(this.store, request());
			this.store.complete(completion(done));
			Claim running = acquire(this.store, request());
			this.replica.pause();
			assertThat(this.store.claim(request(done.key()))).isInstanceOf(ClaimResult.Completed.class);
			assertThat(this.store.claim(request(running.key()))).isInstanceOf(ClaimResult.InProgress.class);
			assertThat(this.store.renew(running.key(), running.id(), Duration.ofHours(1))).isTrue();
			assertThat(this.store.release(running.key(), running.id())).isTrue();
			this.replica.resume();
		}

		@Test
		void waitingHoldsUpNobodyElse() throws Exception {
			RedisIdempotencyStore patient = new RedisIdempotencyStore(this.connections, "test:", 1,
					Duration.ofSeconds(10), RedisClients.PATIENT);
			acquire(patient, request());
			this.replica.pause();
			ClaimRequest request = request();
			CompletableFuture<ClaimResult> waiting = OwnThread.supply(() -> patient.claim(request));
			await().atMost(Duration.ofSeconds(10))
				.until(() -> this.master.info("clients").getProperty("blocked_clients").trim().equals("1"));
			RedisIdempotencyStore other = new RedisIdempotencyStore(this.connections);
			acquire(other, request());
			assertThat(waiting).isNotDone();
			this.replica.resume();
			assertThat(waiting.get(30, TimeUnit.SECONDS)).isInstanceOf(ClaimResult.Acquired.class);
			patient.close();
		}

		@Test
		void verifyIsContentWithEnoughReplicas() {
			this.store.verify();
			assertThat(this.master.info("replication")).containsEntry("connected_slaves", "1");
		}

	}

	@Nested
	class Cluster {

		@Test
		void lettuceWaitsForTheReplicaOfTheKeysMaster() {
			try (RedisClusterServers cluster = RedisClusterServers.startWithReplicas(RedisBinary.REDIS_7_0)) {
				withConnections(RedisClients.lettuce(cluster), (connections) -> {
					RedisIdempotencyStore store = new RedisIdempotencyStore(connections, "test:", 1, WAIT,
							RedisClients.PATIENT);
					store.verify();
					List<ClaimRequest> requests = Stream.generate(RedisReplicationTests::request).limit(30).toList();
					requests.forEach((request) -> acquire(store, request));
					store.close();
					cluster.replicas().forEach(RedisServer::pause);
					RedisIdempotencyStore impatient = new RedisIdempotencyStore(connections, "test:", 1,
							Duration.ofMillis(300), RedisClients.PATIENT);
					for (ClaimRequest request : requests) {
						assertThatExceptionOfType(IdempotencyStoreException.class)
							.isThrownBy(() -> impatient.complete(completion(claimOf(request))))
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
				ClaimRequest request = request();
				int slot = cluster.slotOf(redisKey(request.key()));
				int from = cluster.firstOwnerOf(slot);
				int to = (from + 1) % 3;
				Claim claim = acquire(store, request);
				cluster.beginMove(slot, from, to);
				cluster.endMove(slot, to);
				assertThat(store.complete(completion(claim))).isTrue();
				assertThat(state(cluster.masters().get(to), claim)).isEqualTo('D');
				assertThat(store.claim(request(request.key()))).isInstanceOf(ClaimResult.Completed.class);
				// What is known now need not be found out again by those who come later.
				cluster.beginMove(slot, to, from);
				cluster.endMove(slot, from);
				assertThat(store.claim(request(request.key()))).isInstanceOf(ClaimResult.Completed.class);
			});
		}

		@Test
		void lettuceFollowsASlotThatIsBeingMoved() {
			withReplicas((cluster, store) -> {
				ClaimRequest request = request();
				int slot = cluster.slotOf(redisKey(request.key()));
				int from = cluster.firstOwnerOf(slot);
				int to = (from + 1) % 3;
				acquire(store, request());
				cluster.beginMove(slot, from, to);
				Claim claim = acquire(store, request);
				assertThat(store.complete(completion(claim))).isTrue();
				assertThat(store.claim(request(request.key()))).isInstanceOf(ClaimResult.Completed.class);
				cluster.endMove(slot, to);
				assertThat(state(cluster.masters().get(to), claim)).isEqualTo('D');
				assertThat(store.claim(request(request.key()))).isInstanceOf(ClaimResult.Completed.class);
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
					assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> store.claim(request()))
						.withMessageContaining("Lettuce");
				});
			}
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

	private static Claim acquire(RedisIdempotencyStore store, ClaimRequest request) {
		ClaimResult answer = store.claim(request);
		assertThat(answer).isInstanceOf(ClaimResult.Acquired.class);
		return ((ClaimResult.Acquired) answer).claim();
	}

	private static Claim claimOf(ClaimRequest request) {
		return new Claim(request.key(), request.claimId(), 1, false);
	}

	private static ClaimRequest request() {
		return request(IdempotencyKey.of("test", Caller.GLOBAL, UUID.randomUUID().toString()));
	}

	private static ClaimRequest request(IdempotencyKey key) {
		return new ClaimRequest(key, ClaimId.random(), Fingerprint.NONE, ClaimType.LEASED, Duration.ofHours(1),
				Duration.ofHours(1), true);
	}

	private static Completion completion(Claim claim) {
		return Completion.result(claim, Fingerprint.NONE,
				new StoredResult("test", "done".getBytes(StandardCharsets.UTF_8)), Duration.ofHours(1));
	}

	private static String redisKey(IdempotencyKey key) {
		return "test:test:" + key.hashHex();
	}

	/** The second byte of a record. */
	private static char state(RedisServer server, Claim claim) {
		return String.valueOf(server.command("GET", redisKey(claim.key()))).charAt(1);
	}

}
