package io.idempotency.it.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyEviction;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.engine.StoreIdempotencyAdmin;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What operators ask of servers with many records, on one server and on a cluster.
 */
@EachRedis({ Redis.Kind.CLIENT, Redis.Kind.CLUSTER })
@StoreAlone
class RedisAdminTests {

	/** On one server, which copies a record so often by itself. */
	private static final int MANY = 100_000;

	/** For another client on such a server, where the number proves nothing more. */
	private static final int FEWER = 10_000;

	/** On a cluster, where every record takes a round trip. */
	private static final int SOME = 2000;

	private static final int PAGE = 1000;

	private static final String COPY = """
			local record = redis.call('GET', KEYS[1])
			for i = tonumber(ARGV[2]) + 1, tonumber(ARGV[2]) + tonumber(ARGV[3]) do
				redis.call('SET', ARGV[1] .. string.rep('0', 24) .. redis.sha1hex(i), record, 'PX', 3600000)
			end
			return 'OK'
			""";

	private final TestRedis redis;

	private final IdempotencyStore store;

	private final IdempotencyAdmin admin;

	RedisAdminTests(TestRedis redis) {
		this.redis = redis;
		this.store = redis.share("node", () -> new Node(redis.connect(), 0)).store();
		this.admin = new StoreIdempotencyAdmin(this.store, (name) -> this.store, Namespace.NONE, Duration.ZERO);
	}

	@Test
	void manyRecordsAreListedPageByPage() {
		String operation = "many" + UUID.randomUUID();
		int expected = fill(operation);
		this.redis.masters().forEach((master) -> master.command("CONFIG", "RESETSTAT"));
		Set<String> ids = new HashSet<>();
		String cursor = null;
		do {
			IdempotencyRecordPage page = this.admin.list(operation, cursor, PAGE);
			assertThat(page.records()).as("a page is about as large as asked for").hasSizeLessThan(2 * PAGE);
			page.records().forEach((record) -> ids.add(record.id()));
			cursor = page.cursor();
		}
		while (cursor != null);
		assertThat(ids).hasSize(expected);
		assertThat(calls("scan")).as("SCAN").isBetween(expected / (2L * PAGE), 10 + 2L * (expected + SOME) / PAGE);
		assertThat(calls("keys")).as("KEYS").isZero();
	}

	private int fill(String operation) {
		if (this.redis.masters().size() > 1) {
			for (int i = 0; i < SOME; i++) {
				claim(operation, Caller.GLOBAL);
			}
			return SOME;
		}
		IdempotencyKey key = claim(operation, Caller.GLOBAL);
		String start = "idempotency:" + operation + ":";
		int copies = (this.redis.type() == Redis.LETTUCE) ? MANY : FEWER;
		for (int copied = 0; copied < copies; copied += PAGE) {
			this.redis.masters()
				.get(0)
				.command("EVAL", COPY, "1", start + key.hashHex(), start, Integer.toString(copied),
						Integer.toString(PAGE));
		}
		return copies + 1;
	}

	private long calls(String command) {
		return this.redis.masters().stream().mapToLong((master) -> calls(master, command)).sum();
	}

	private static long calls(RedisServer server, String command) {
		Properties stats = server.info("commandstats");
		String value = stats.getProperty("cmdstat_" + command);
		return (value != null) ? Long.parseLong(value.replaceFirst("calls=(\\d+),.*", "$1")) : 0;
	}

	@Test
	void recordsOfOneCallerAreErasedAndNobodyElses() {
		List<IdempotencyKey> mine = new ArrayList<>();
		List<IdempotencyKey> others = new ArrayList<>();
		String name = UUID.randomUUID().toString();
		for (int i = 0; i < 50; i++) {
			mine.add(done("pay" + i % 2, Caller.principal(name)));
			others.add(done("pay" + i % 2, Caller.principal(name + "2")));
			others.add(done("pay" + i % 2, Caller.GLOBAL));
		}
		IdempotencyKey running = claim("pay0", Caller.principal(name));
		assertThat(this.admin.erase(IdempotencyCaller.principal(name), false))
			.isEqualTo(new IdempotencyEviction(50, 1, Duration.ZERO));
		assertThat(mine).noneMatch(this::isKept);
		assertThat(others).allMatch(this::isKept);
		assertThat(isKept(running)).isTrue();
	}

	@Test
	void evictedKeyIsNew() {
		IdempotencyKey key = done("evict", Caller.GLOBAL);
		assertThat(this.admin.evict("evict", key.hashHex(), false).evicted()).isEqualTo(1);
		Requests.acquire(this.store, Requests.claim(key));
	}

	private boolean isKept(IdempotencyKey key) {
		return this.admin.findById(key.operation(), key.hashHex()).isPresent();
	}

	private IdempotencyKey done(String operation, Caller caller) {
		ClaimRequest request = request(operation, caller);
		this.store.complete(Requests.result(Requests.acquire(this.store, request)));
		return request.key();
	}

	private IdempotencyKey claim(String operation, Caller caller) {
		ClaimRequest request = request(operation, caller);
		Requests.acquire(this.store, request);
		return request.key();
	}

	private static ClaimRequest request(String operation, Caller caller) {
		return Requests.claim(IdempotencyKey.of(operation, caller, UUID.randomUUID().toString()));
	}

}
