package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.BlockingBridge;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Renewal;
import io.idempotency.store.redis.ReactiveRedisIdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The form that does not block, on one server. */
@Requires(Backend.REDIS)
@TestInstance(Lifecycle.PER_CLASS)
class ReactiveRedisTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private RedisServer server;

	private Node node;

	private ReactiveRedisIdempotencyStore store;

	private IdempotencyStore asked;

	@BeforeAll
	void start() {
		this.server = RedisServer.start(RedisBinary.REDIS_7_0);
		this.node = new Node(RedisClients.lettuce(this.server));
		this.store = ReactiveRedisIdempotencyStore.of(this.node.store()).orElseThrow();
		this.asked = new BlockingBridge(this.store);
	}

	@AfterAll
	void stop() {
		this.node.close();
		this.server.close();
	}

	@Test
	void eachVerbIsOneCommand() {
		Claim warmUp = Requests.acquire(this.asked, Requests.claim());
		this.asked.renew(warmUp.key(), warmUp.id(), Requests.LONG);
		this.asked.complete(Requests.result(warmUp));
		this.asked.release(warmUp.key(), warmUp.id());
		ClaimRequest request = Requests.claim();
		AtomicReference<Claim> claim = new AtomicReference<>();
		assertThat(sent(() -> claim.set(Requests.acquire(this.asked, request)))).isEqualTo(Map.of("evalsha", 1L));
		Claim own = claim.get();
		assertThat(sent(() -> assertThat(this.asked.renew(own.key(), own.id(), Requests.LONG)).isTrue()))
			.isEqualTo(Map.of("evalsha", 1L));
		assertThat(sent(() -> assertThat(this.asked.complete(Requests.result(own))).isTrue()))
			.isEqualTo(Map.of("evalsha", 1L));
		assertThat(sent(() -> assertThat(this.asked.find(request.key(), request.fingerprint())).isPresent()))
			.isEqualTo(Map.of("get", 1L));
		assertThat(sent(() -> assertThat(this.asked.release(own.key(), own.id())).isFalse()))
			.isEqualTo(Map.of("evalsha", 1L));
	}

	@Test
	void scriptThatTheServerHasForgottenIsSentOnce() {
		Requests.acquire(this.asked, Requests.claim());
		this.server.command("SCRIPT", "FLUSH");
		assertThat(sent(() -> Requests.acquire(this.asked, Requests.claim())))
			.isEqualTo(Map.of("evalsha", 1L, "eval", 1L));
		assertThat(sent(() -> Requests.acquire(this.asked, Requests.claim()))).isEqualTo(Map.of("evalsha", 1L));
	}

	@Test
	void manyRenewalsSurviveAForgottenScript() {
		List<Renewal> renewals = IntStream.range(0, 60)
			.mapToObj((i) -> Requests.acquire(this.asked, Requests.claim()))
			.map((claim) -> new Renewal(claim.key(), claim.id(), Requests.LONG))
			.toList();
		this.server.command("SCRIPT", "FLUSH");
		assertThat(this.asked.renewAll(renewals)).isEmpty();
		Renewal gone = renewals.get(3);
		this.asked.release(gone.key(), gone.claimId());
		assertThat(this.asked.renewAll(renewals)).isEqualTo(Set.of(gone.claimId()));
		assertThat(this.asked.renewAll(List.of())).isEmpty();
	}

	@Test
	void oneFormEndsWhatTheOtherHasClaimed() {
		IdempotencyStore blocking = this.node.store();
		for (List<IdempotencyStore> pair : List.of(List.of(blocking, this.asked), List.of(this.asked, blocking))) {
			ClaimRequest request = Requests.claim();
			Claim claim = Requests.acquire(pair.get(0), request);
			assertThat(pair.get(1).claim(Requests.claim(request.key()))).isInstanceOf(ClaimResult.InProgress.class);
			assertThat(pair.get(1).renew(claim.key(), claim.id(), Requests.LONG)).isTrue();
			assertThat(pair.get(1).complete(Requests.result(claim))).isTrue();
			assertThat(pair.get(0).claim(Requests.claim(request.key()))).isInstanceOf(ClaimResult.Completed.class);
			IdempotencyKey token = IdempotencyKey.ofToken(Caller.GLOBAL, UUID.randomUUID().toString());
			pair.get(0).issue(token, Requests.LONG);
			Requests.acquire(pair.get(1), Requests.claim(token));
		}
	}

	@Test
	void answersComeOnNoThreadOfTheClient() {
		assertThat(this.store.claim(Requests.claim()).map((result) -> Thread.currentThread().getName()).block(PATIENCE))
			.startsWith("parallel");
	}

	/** Nothing breaks in between a script that is not known and its text. */
	@Test
	void cancelledStepIsAppliedAndLeavesNothing() {
		this.server.command("SCRIPT", "FLUSH");
		ClaimRequest request = Requests.claim();
		Disposable subscription = this.store.claim(request).subscribe();
		subscription.dispose();
		await().atMost(PATIENCE).until(() -> this.server.command("EXISTS", name(request)).equals(1L));
		assertThat(this.asked.release(request.key(), request.claimId())).isTrue();
	}

	@Test
	void nothingHappensBeforeTheSubscriptionAndEachIsAStep() {
		ClaimRequest request = Requests.claim();
		Mono<ClaimResult> claim = this.store.claim(request);
		assertThat(this.server.command("EXISTS", name(request))).isEqualTo(0L);
		// The same claim sent again.
		assertThat(Requests.acquired(claim.block(PATIENCE))).isEqualTo(Requests.acquired(claim.block(PATIENCE)));
	}

	@Test
	void clientThatBlocksHasNoSuchForm() throws Exception {
		JedisConnectionFactory jedis = RedisClients.jedis(this.server);
		try (RedisIdempotencyStore store = new RedisIdempotencyStore(jedis)) {
			assertThat(ReactiveRedisIdempotencyStore.of(store)).isEmpty();
		}
		finally {
			jedis.destroy();
		}
	}

	private static String name(ClaimRequest request) {
		return RedisIdempotencyStore.DEFAULT_KEY_PREFIX + request.key().operation() + ":" + request.key().hashHex();
	}

	/** The commands of clients, and not those inside scripts. */
	private Map<String, Long> sent(Runnable call) {
		Map<String, Long> commands = RedisCommandCountTests.commandsOf(this.server, call);
		commands.keySet().retainAll(Set.of("evalsha", "eval", "get"));
		if (commands.containsKey("evalsha")) {
			commands.remove("get");
		}
		return commands;
	}

}
