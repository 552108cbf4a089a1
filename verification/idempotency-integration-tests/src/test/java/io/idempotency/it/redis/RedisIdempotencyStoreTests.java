package io.idempotency.it.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.OldestRecord;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.StoredResult;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What is particular to Redis; the rest is in the contract.
 */
@Requires(Backend.REDIS)
@TestInstance(Lifecycle.PER_CLASS)
class RedisIdempotencyStoreTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration DAY = Duration.ofDays(1);

	private RedisServer server;

	private LettuceConnectionFactory connectionFactory;

	private RedisIdempotencyStore store;

	@BeforeAll
	void start() {
		this.server = RedisServer.start(RedisBinary.REDIS_6_2);
		this.connectionFactory = RedisClients.lettuce(this.server);
		this.store = new RedisIdempotencyStore(this.connectionFactory);
	}

	@AfterAll
	void stop() {
		this.store.close();
		this.connectionFactory.destroy();
		this.server.close();
	}

	@Test
	void recordIsOneKeyThatShowsItsOperation() {
		IdempotencyKey key = key("com.example.Orders.create(java.lang.String)");
		acquire(key);
		assertThat(keys("*" + key.hashHex()))
			.containsExactly("idempotency:com.example.Orders.create(java.lang.String):" + key.hashHex());
	}

	@Test
	void operationCannotChooseTheSlotOfAClusterOrBreakAListing() {
		IdempotencyKey key = key("{tag} a\r\nb");
		acquire(key);
		assertThat(keys("*" + key.hashHex())).containsExactly("idempotency:_tag__a__b:" + key.hashHex());
	}

	@Test
	void recordOfTheOldestFormatIsReplayed() {
		try (RedisConnection connection = this.connectionFactory.getConnection()) {
			connection.stringCommands()
				.set(("idempotency:" + OldestRecord.REDIS_KEY).getBytes(StandardCharsets.UTF_8),
						OldestRecord.REDIS_VALUE);
		}
		OldestRecord.assertReplayedBy(this.store);
	}

	@Test
	void claimOfTheOldestVersionIsRenewedAndCompletedByThisOne() {
		byte[] name = ("idempotency:" + OldestRecord.REDIS_KEY).getBytes(StandardCharsets.UTF_8);
		try (RedisConnection connection = this.connectionFactory.getConnection()) {
			connection.stringCommands().set(name, OldestRecord.REDIS_RUNNING);
		}
		IdempotencyKey key = IdempotencyKey.of(OldestRecord.OPERATION, Caller.principal("alice"), "k-1");
		ByteBuffer id = ByteBuffer.wrap(OldestRecord.CLAIM_ID);
		ClaimId owner = new ClaimId(id.getLong(), id.getLong());
		assertThat(this.store.renew(key, owner, HOUR)).isTrue();
		Fingerprint fingerprint = Fingerprint.fromBytes(OldestRecord.FINGERPRINT);
		assertThat(this.store.complete(Completion.result(new Claim(key, owner, OldestRecord.FENCE, false), fingerprint,
				new StoredResult(OldestRecord.FORMAT, OldestRecord.ANSWER), DAY)))
			.isTrue();
		OldestRecord.assertReplayedBy(this.store);
	}

	@Test
	void prefixIsConfigurable() {
		RedisIdempotencyStore other = new RedisIdempotencyStore(this.connectionFactory, "{shop}:", HOUR);
		IdempotencyKey key = key("test");
		assertThat(other.claim(Requests.claim(key, HOUR, DAY))).isInstanceOf(ClaimResult.Acquired.class);
		assertThat(this.store.claim(Requests.claim(key, HOUR, DAY))).isInstanceOf(ClaimResult.Acquired.class);
		assertThat(keys("*" + key.hashHex())).containsExactlyInAnyOrder("{shop}:test:" + key.hashHex(),
				"idempotency:test:" + key.hashHex());
	}

	@Test
	void runningRecordExpiresWithTheRetentionOfItsClaim() {
		IdempotencyKey key = key("test");
		this.store.claim(Requests.claim(key, HOUR, DAY));
		assertThat(timeToLive(key)).isBetween(DAY.minusMinutes(5), DAY);
	}

	@Test
	void runningRecordNeverExpiresBeforeItsLease() {
		IdempotencyKey key = key("test");
		ClaimRequest request = Requests.claim(key, HOUR, Duration.ofMinutes(1));
		this.store.claim(request);
		assertThat(timeToLive(key)).isBetween(HOUR.minusMinutes(5), HOUR);
		this.store.renew(key, request.claimId(), DAY);
		assertThat(timeToLive(key)).isBetween(DAY.minusMinutes(5), DAY);
	}

	@Test
	void resultExpiresWithItsOwnRetention() {
		Claim claim = acquire(key("test"));
		this.store.complete(Requests.result(claim, HOUR));
		assertThat(timeToLive(claim.key())).isBetween(HOUR.minusMinutes(5), HOUR);
	}

	@Test
	void endlessLeaseAndRetentionAreAHundredYears() {
		IdempotencyKey key = key("test");
		Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
		Claim claim = Requests.acquire(this.store, Requests.claim(key, endless, endless));
		assertThat(timeToLive(key)).isBetween(Duration.ofDays(36_499), Duration.ofDays(36_500));
		assertThat(this.store.complete(Requests.result(claim, endless))).isTrue();
		assertThat(this.store.claim(Requests.claim(key, HOUR, DAY))).isInstanceOfSatisfying(ClaimResult.Completed.class,
				(completed) -> assertThat(completed.rest()).isBetween(Duration.ofDays(36_499),
						Duration.ofDays(36_500)));
	}

	@Test
	void fenceIsTheClockOfTheServerInMicroseconds() {
		long before = serverMicros();
		long fencingToken = acquire(key("test")).fencingToken();
		assertThat(fencingToken).isBetween(before, serverMicros());
	}

	@Test
	void tokenExpiresByTheClockOfTheServer() {
		long before = serverMicros();
		Instant expiresAt = this.store.issue(IdempotencyKey.ofToken(Caller.ANONYMOUS, UUID.randomUUID().toString()),
				HOUR);
		assertThat(expiresAt).isBetween(micros(before).plus(HOUR), micros(serverMicros()).plus(HOUR));
	}

	@Test
	void keyThatIsNoTokenCannotBeIssued() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.store.issue(key("test"), HOUR))
			.withMessageContaining("'test'");
	}

	@Test
	void everyVerbSurvivesAScriptFlush() {
		IdempotencyKey key = key("test");
		ClaimRequest request = Requests.claim(key, HOUR, DAY);
		flushScripts();
		Claim claim = Requests.acquire(this.store, request);
		flushScripts();
		assertThat(this.store.renew(key, claim.id(), DAY)).isTrue();
		flushScripts();
		assertThat(this.store.complete(Requests.result(claim, DAY))).isTrue();
		flushScripts();
		assertThat(this.store.release(key, claim.id())).isFalse();
		flushScripts();
		assertThat(this.store.issue(IdempotencyKey.ofToken(Caller.GLOBAL, UUID.randomUUID().toString()), HOUR))
			.isAfter(Instant.EPOCH);
	}

	@Test
	void recordOfANewerVersionIsNeverAbsent() {
		IdempotencyKey key = key("test");
		this.server.command("SET", redisKey(key), "\u0004whatever comes then");
		ClaimRequest request = Requests.claim(key, HOUR, DAY);
		expectUnreadable(() -> this.store.claim(request));
		expectUnreadable(() -> this.store.complete(Requests.result(new Claim(key, request.claimId(), 1, false), DAY)));
		expectUnreadable(() -> this.store.release(key, request.claimId()));
		expectUnreadable(() -> this.store.renew(key, request.claimId(), HOUR));
		assertThat(this.server.command("GET", redisKey(key))).isEqualTo("\u0004whatever comes then");
	}

	private static void expectUnreadable(Runnable verb) {
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(verb::run)
			.satisfies((ex) -> assertThat(ex).rootCause().hasMessageContaining("version 4"));
	}

	@Test
	void valueOfSomebodyElseIsNeverAbsent() {
		IdempotencyKey text = key("test");
		this.server.command("SET", redisKey(text), "\u0001short");
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> this.store.claim(Requests.claim(text, HOUR, DAY)));
		IdempotencyKey hash = key("test");
		this.server.command("HSET", redisKey(hash), "field", "value");
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> this.store.claim(Requests.claim(hash, HOUR, DAY)));
	}

	@Test
	void fullServerRejectsClaimsAndKeepsWhatItHas() {
		try (RedisServer full = RedisServer.start(RedisBinary.REDIS_7_0, "--maxmemory-policy", "noeviction")) {
			LettuceConnectionFactory connections = RedisClients.lettuce(full);
			RedisIdempotencyStore fullStore = new RedisIdempotencyStore(connections);
			ClaimRequest done = Requests.claim(key("test"), HOUR, DAY);
			Claim claim = Requests.acquire(fullStore, done);
			fullStore.complete(Requests.result(claim, DAY));
			ClaimRequest running = Requests.claim(key("test"), HOUR, DAY);
			Claim runningClaim = Requests.acquire(fullStore, running);
			full.command("CONFIG", "SET", "maxmemory", "1");

			ClaimRequest rejected = Requests.claim(key("test"), HOUR, DAY);
			assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> fullStore.claim(rejected))
				.withMessageContaining("'claim'")
				.satisfies((ex) -> assertThat(ex).rootCause().hasMessageContaining("OOM"));
			assertThat(fullStore.claim(Requests.claim(done.key(), HOUR, DAY)))
				.isInstanceOf(ClaimResult.Completed.class);
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> fullStore.complete(Requests.result(runningClaim, DAY)));
			assertThatExceptionOfType(IdempotencyStoreException.class)
				.isThrownBy(() -> fullStore.renew(running.key(), running.claimId(), HOUR))
				.satisfies((ex) -> assertThat(ex).rootCause().hasMessageContaining("OOM"));

			full.command("CONFIG", "SET", "maxmemory", "0");
			assertThat(fullStore.complete(Requests.result(runningClaim, DAY))).isTrue();
			assertThat(fullStore.claim(rejected)).isInstanceOf(ClaimResult.Acquired.class);
			connections.destroy();
		}
	}

	@Test
	void serverThatIsNotThereIsAnExceptionThatNamesTheVerbAndNoKey() {
		RedisServer gone = RedisServer.start(RedisBinary.REDIS_7_0);
		LettuceConnectionFactory connections = RedisClients.impatientLettuce(gone.port());
		RedisIdempotencyStore store = new RedisIdempotencyStore(connections);
		gone.kill();
		IdempotencyKey key = IdempotencyKey.of("test", Caller.principal("anna"), "secret");
		assertThatExceptionOfType(StoreNotReachedException.class)
			.isThrownBy(() -> store.claim(Requests.claim(key, HOUR, DAY)))
			.withMessageMatching("Redis could not be reached for 'claim': \\w+")
			.satisfies((ex) -> assertThat(ex).hasStackTraceContaining("Caused by")
				.extracting(Object::toString)
				.asString()
				.doesNotContain(key.hashHex(), "secret", "anna"));
		connections.destroy();
	}

	@Test
	void wrongArgumentsAreRejectedAtOnce() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RedisIdempotencyStore(this.connectionFactory, "", Duration.ZERO))
			.withMessageContaining("storeTimeout");
	}

	private Claim acquire(IdempotencyKey key) {
		return Requests.acquire(this.store, Requests.claim(key, HOUR, DAY));
	}

	private static IdempotencyKey key(String operation) {
		return Requests.key(operation, UUID.randomUUID().toString());
	}

	private static String redisKey(IdempotencyKey key) {
		return "idempotency:" + key.operation() + ":" + key.hashHex();
	}

	private List<String> keys(String pattern) {
		return ((List<?>) this.server.command("KEYS", pattern)).stream().map(String::valueOf).toList();
	}

	private Duration timeToLive(IdempotencyKey key) {
		return Duration.ofMillis((Long) this.server.command("PTTL", redisKey(key)));
	}

	private long serverMicros() {
		List<?> time = (List<?>) this.server.command("TIME");
		return Long.parseLong((String) time.get(0)) * 1_000_000 + Long.parseLong((String) time.get(1));
	}

	private static Instant micros(long micros) {
		return Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1000);
	}

	private void flushScripts() {
		this.server.command("SCRIPT", "FLUSH");
	}

}
