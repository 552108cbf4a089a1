package io.idempotency.it.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.idempotency.it.servers.BadLine;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.RequiresRedis;
import io.idempotency.it.store.OwnThread;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Many renewals at once, on each kind of server through both clients.
 */
@RequiresRedis
class RedisRenewAllTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration DAY = Duration.ofDays(1);

	@Nested
	class Lettuce extends Standalone {

		@Override
		RedisConnectionFactory connect(int port) {
			return RedisClients.lettuce(port);
		}

	}

	@Nested
	class Jedis extends Standalone {

		@Override
		RedisConnectionFactory connect(int port) {
			return RedisClients.jedis(port, Duration.ofSeconds(5));
		}

	}

	@Nested
	class LettuceCluster extends Cluster {

		@Override
		RedisConnectionFactory connect(RedisClusterServers servers) {
			return RedisClients.lettuce(servers);
		}

	}

	@Nested
	class JedisCluster extends Cluster {

		@Override
		RedisConnectionFactory connect(RedisClusterServers servers) {
			return RedisClients.jedis(servers);
		}

	}

	abstract static class Standalone extends Renewals {

		private RedisServer server;

		abstract RedisConnectionFactory connect(int port);

		@Override
		RedisConnectionFactory start() {
			this.server = RedisServer.start(RedisBinary.REDIS_7_0);
			return connect(this.server.port());
		}

		@Override
		void stop() {
			this.server.close();
		}

		@Override
		List<RedisServer> servers() {
			return List.of(this.server);
		}

		/**
		 * The server hears all of them while no reply of it has arrived.
		 */
		@Test
		void twoHundredTakeOneRoundTrip() throws Exception {
			List<Renewal> renewals = claims(200);
			try (BadLine line = new BadLine(this.server.port())) {
				RedisConnectionFactory connections = connect(line.port());
				try (RedisIdempotencyStore store = new RedisIdempotencyStore(connections, "test:", 0,
						Duration.ofSeconds(1), Duration.ofSeconds(5))) {
					assertThat(store.renewAll(renewals)).isEmpty();
					this.server.command("CONFIG", "RESETSTAT");
					line.loseReplies();
					CompletableFuture<Set<ClaimId>> renewed = OwnThread.supply(() -> store.renewAll(renewals));
					await().atMost(Duration.ofSeconds(4)).until(this::scriptsRun, (count) -> count == 200);
					assertThat(renewed).isNotDone();
					assertThatExceptionOfType(ExecutionException.class)
						.isThrownBy(() -> renewed.get(30, TimeUnit.SECONDS))
						.withCauseInstanceOf(IdempotencyStoreException.class);
					line.reconnect();
				}
				finally {
					((DisposableBean) connections).destroy();
				}
			}
			assertThat(scriptsRun()).isEqualTo(200);
		}

		private int scriptsRun() {
			String stat = this.server.info("commandstats").getProperty("cmdstat_evalsha", "calls=0,");
			return Integer.parseInt(stat.replaceFirst("calls=(\\d+),.*", "$1"));
		}

	}

	abstract static class Cluster extends Renewals {

		private RedisClusterServers servers;

		abstract RedisConnectionFactory connect(RedisClusterServers servers);

		@Override
		RedisConnectionFactory start() {
			this.servers = RedisClusterServers.start(RedisBinary.REDIS_7_0);
			return connect(this.servers);
		}

		@Override
		void stop() {
			this.servers.close();
		}

		@Override
		List<RedisServer> servers() {
			return this.servers.masters();
		}

		@Test
		void slotThatWasMovedIsFollowed() {
			List<Renewal> renewals = claims(20);
			int slot = this.servers.slotOf(redisKey(renewals.get(7)));
			int to = (this.servers.firstOwnerOf(slot) + 1) % 3;
			this.servers.beginMove(slot, this.servers.firstOwnerOf(slot), to);
			assertThat(store().renewAll(renewals)).isEmpty();
			this.servers.endMove(slot, to);
			assertThat(store().renewAll(renewals)).isEmpty();
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class Renewals {

		private RedisConnectionFactory connections;

		private RedisIdempotencyStore store;

		abstract RedisConnectionFactory start();

		abstract void stop();

		abstract List<RedisServer> servers();

		@BeforeAll
		void startAll() {
			this.connections = start();
			this.store = new RedisIdempotencyStore(this.connections, "test:", 0, Duration.ofSeconds(1),
					RedisClients.PATIENT);
		}

		@AfterAll
		void stopAll() throws Exception {
			this.store.close();
			((DisposableBean) this.connections).destroy();
			stop();
		}

		RedisIdempotencyStore store() {
			return this.store;
		}

		@Test
		void refusedOnesAreNamedAndTheOthersLiveOn() {
			List<Renewal> renewals = new ArrayList<>(claims(30));
			Renewal released = renewals.get(3);
			this.store.release(released.key(), released.claimId());
			Renewal unknown = new Renewal(key(), ClaimId.random(), DAY);
			renewals.add(11, unknown);
			assertThat(this.store.renewAll(renewals)).containsExactlyInAnyOrder(released.claimId(), unknown.claimId());
			renewals.removeAll(List.of(released, unknown));
			assertThat(renewals).allSatisfy((renewal) -> assertThat(timeToLive(renewal)).isGreaterThan(HOUR));
		}

		@Test
		void noneIsLostWhereTheScriptIsUnknown() {
			List<Renewal> renewals = claims(60);
			servers().forEach((server) -> server.command("SCRIPT", "FLUSH"));
			assertThat(this.store.renewAll(renewals)).isEmpty();
			assertThat(renewals).allSatisfy((renewal) -> assertThat(timeToLive(renewal)).isGreaterThan(HOUR));
			assertThat(this.store.renewAll(renewals)).isEmpty();
		}

		@Test
		void recordThatCannotBeReadFailsTheCall() {
			List<Renewal> renewals = claims(5);
			servers().forEach((server) -> {
				try {
					server.command("SET", redisKey(renewals.get(2)), "\u0002whatever comes then");
				}
				catch (RuntimeException ex) {
					assertThat(ex).hasStackTraceContaining("MOVED");
				}
			});
			assertThatExceptionOfType(UnreadableRecordException.class).isThrownBy(() -> this.store.renewAll(renewals))
				.withMessageContaining("'renew'")
				.satisfies((ex) -> assertThat(ex).rootCause().hasMessageContaining("version 2"));
		}

		@Test
		void nothingToRenewIsNothingRefused() {
			assertThat(this.store.renewAll(List.of())).isEmpty();
		}

		/** With an hour to live, to be renewed for a day. */
		List<Renewal> claims(int count) {
			return Stream.generate(() -> {
				ClaimRequest request = new ClaimRequest(key(), ClaimId.random(), Fingerprint.NONE, ClaimType.LEASED,
						HOUR, HOUR, true);
				assertThat(this.store.claim(request)).isInstanceOf(ClaimResult.Acquired.class);
				return new Renewal(request.key(), request.claimId(), DAY);
			}).limit(count).toList();
		}

		private Duration timeToLive(Renewal renewal) {
			return servers().stream().map((server) -> {
				try {
					return Duration.ofMillis((Long) server.command("PTTL", redisKey(renewal)));
				}
				catch (RuntimeException ex) {
					assertThat(ex).hasStackTraceContaining("MOVED");
					return Duration.ZERO;
				}
			}).max(Duration::compareTo).orElseThrow();
		}

		static String redisKey(Renewal renewal) {
			return "test:test:" + renewal.key().hashHex();
		}

		private static IdempotencyKey key() {
			return IdempotencyKey.of("test", Caller.GLOBAL, UUID.randomUUID().toString());
		}

	}

}
