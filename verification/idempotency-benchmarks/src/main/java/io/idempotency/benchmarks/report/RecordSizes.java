package io.idempotency.benchmarks.report;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import io.idempotency.benchmarks.BenchmarkStore;
import io.idempotency.http.StoredAnswers;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.store.StoredResult;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;

import org.springframework.jdbc.core.JdbcTemplate;

/** How much room a record takes, whose answer has a body of 200 bytes. */
final class RecordSizes implements Page.Section {

	private static final int BODY = 200;

	private static final int IN_MEMORY = 100_000;

	private static final int ON_SERVERS = 20_000;

	private final StoredResult answer = StoredAnswers.json(BODY);

	private final StoreServers servers;

	private final List<List<?>> rows = new ArrayList<>();

	RecordSizes(StoreServers servers) {
		this.servers = servers;
	}

	@Override
	public void into(Page page) throws Exception {
		page.judge(goal("memory", 400), memory());
		page.judge(goal("Redis", 420), redis());
		page.judge(goal("PostgreSQL, with its indexes", 450), postgreSql());
		page.table("Records",
				"A finished record whose answer has a body of " + BODY + " bytes: " + this.answer.bytes().length
						+ " with status and content type; the key is of one number.",
				List.of("", "bytes", "how"), this.rows);
	}

	private static Goal goal(String store, double bound) {
		return Goal.atMost("bytes of one record of a " + BODY + "-byte answer: " + store, bound, "");
	}

	private double memory() throws Exception {
		long before = usedHeap();
		try (BenchmarkStore store = BenchmarkStore.open("memory", this.answer)) {
			store.fill(IN_MEMORY);
			return add("memory", (double) (usedHeap() - before) / IN_MEMORY,
					"heap after a collection, of " + IN_MEMORY + " records");
		}
	}

	private static long usedHeap() {
		// Cleaners and references need a second one.
		System.gc();
		System.gc();
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

	private double redis() throws Exception {
		try (RedisServer server = RedisServer.start(this.servers.redis().binary());
				BenchmarkStore store = BenchmarkStore.open("redis://127.0.0.1:" + server.port(), this.answer)) {
			long before = usedMemory(server);
			store.fill(ON_SERVERS);
			add("Redis, its whole memory", (double) (usedMemory(server) - before) / ON_SERVERS,
					"`used_memory`, of " + ON_SERVERS + " records");
			long usage = (Long) server.command("MEMORY", "USAGE", (String) server.command("RANDOMKEY"), "SAMPLES", "0");
			return add("Redis", usage, "`MEMORY USAGE` of one");
		}
	}

	private static long usedMemory(RedisServer server) {
		Properties memory = server.info("memory");
		return Long.parseLong(memory.getProperty("used_memory").strip());
	}

	private double postgreSql() throws Exception {
		SqlDatabase database = this.servers.newDatabase();
		try (BenchmarkStore store = BenchmarkStore.open(database.url() + "?user=" + database.user(), this.answer)) {
			store.fill(ON_SERVERS);
		}
		JdbcTemplate jdbc = database.jdbc();
		String table = JdbcIdempotencyStore.DEFAULT_TABLE_NAME;
		add("PostgreSQL, a row", number(jdbc, "select avg(pg_column_size(t.*)) from " + table + " t"),
				"`pg_column_size`");
		add("PostgreSQL, before a vacuum", relation(jdbc, table),
				"`pg_total_relation_size` ÷ rows: each row was written by its claim and by its end");
		jdbc.execute("vacuum full " + table);
		return add("PostgreSQL, with its indexes", relation(jdbc, table),
				"`pg_total_relation_size` ÷ rows, after `VACUUM FULL`, of " + ON_SERVERS + " records");
	}

	private static double relation(JdbcTemplate jdbc, String table) {
		return number(jdbc, "select pg_total_relation_size('" + table + "')::float8 / count(*) from " + table);
	}

	private static double number(JdbcTemplate jdbc, String query) {
		return jdbc.queryForObject(query, Double.class);
	}

	private double add(String name, double bytes, String how) {
		this.rows.add(List.of(name, Math.round(bytes), how));
		return bytes;
	}

}
