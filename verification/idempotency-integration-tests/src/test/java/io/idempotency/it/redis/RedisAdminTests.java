package io.idempotency.it.redis;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;

import com.sun.management.ThreadMXBean;
import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyEviction;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.engine.IdempotencyEngine;
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

	/** The records that are listed. */
	private static final int MANY = 100_000;

	/** For another client on such servers, where the number proves nothing more. */
	private static final int FEWER = 10_000;

	/** So many that each master has one of them. */
	private static final int CLAIMS = 64;

	private static final int PAGE = 1000;

	/**
	 * What one record may take at most on the thread that asks for it. Measured are 5 to
	 * 12 KB on each page, and up to 20 on the first one of a server that has yet to learn
	 * the script. All records at once would take many times as much as a page.
	 */
	private static final long BYTES_A_RECORD = 32_768;

	/**
	 * Copies the first of the records that the server has, to names that are its own; it
	 * rejects those of other masters.
	 */
	private static final String COPY = """
			local record
			for i = 4, #ARGV do
				local found = redis.pcall('GET', ARGV[i])
				if type(found) == 'string' then
					record = found
				end
			end
			local copies = 0
			for i = tonumber(ARGV[2]) + 1, tonumber(ARGV[2]) + tonumber(ARGV[3]) do
				local set = redis.pcall('SET', ARGV[1] .. string.rep('0', 24) .. redis.sha1hex(i), record, 'PX', 3600000)
				if set.ok then
					copies = copies + 1
				end
			end
			return copies
			""";

	private final TestRedis redis;

	private final IdempotencyStore store;

	private final IdempotencyAdmin admin;

	RedisAdminTests(TestRedis redis) {
		this.redis = redis;
		this.store = redis.share("node", () -> new Node(redis.connect())).store();
		this.admin = IdempotencyEngine.admin(this.store, (name) -> this.store, Namespace.NONE);
	}

	@Test
	void manyRecordsAreListedPageByPage() {
		String operation = "many" + UUID.randomUUID();
		int expected = fill(operation);
		this.admin.list(operation, null, 1); // loads the classes
		this.redis.masters().forEach((master) -> master.command("CONFIG", "RESETSTAT"));
		Set<String> ids = new HashSet<>();
		String cursor = null;
		do {
			long before = allocated();
			IdempotencyRecordPage page = this.admin.list(operation, cursor, PAGE);
			assertThat(allocated() - before).as("bytes that a page takes").isLessThan(PAGE * BYTES_A_RECORD);
			assertThat(page.records()).as("a page is about as large as asked for").hasSizeLessThan(2 * PAGE);
			page.records().forEach((record) -> ids.add(record.id()));
			cursor = page.cursor();
		}
		while (cursor != null);
		assertThat(ids).hasSize(expected);
		assertThat(calls("scan")).as("SCAN").isBetween(expected / (2L * PAGE), 10 + 2L * (expected + FEWER) / PAGE);
		assertThat(calls("keys")).as("KEYS").isZero();
	}

	private static long allocated() {
		return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
	}

	private int fill(String operation) {
		String start = "idempotency:" + operation + ":";
		List<String> claimed = new ArrayList<>();
		for (int i = 0; i < CLAIMS; i++) {
			claimed.add(start + claim(operation, Caller.GLOBAL).hashHex());
		}
		int wanted = (this.redis.type().client() == Redis.Client.LETTUCE) ? MANY : FEWER;
		long copies = 0;
		for (int copied = 0; copied < wanted; copied += PAGE) {
			List<String> command = new ArrayList<>(
					List.of("EVAL", COPY, "0", start, Integer.toString(copied), Integer.toString(PAGE)));
			command.addAll(claimed);
			for (RedisServer master : this.redis.masters()) {
				copies += (Long) Objects.requireNonNull(master.command(command.toArray(String[]::new)));
			}
		}
		assertThat(copies).as("each copy has one master").isEqualTo(wanted);
		return wanted + CLAIMS;
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
			.isEqualTo(new IdempotencyEviction(50, 1));
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
