package io.idempotency.benchmarks;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.benchmarks.ClaimStatements.Vendor;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * What the ways to claim in SQL cost, without a network and with one of a millisecond
 * there and back: compare the statements of one run. MySQL has no way in one statement:
 * {@code -p statements=INSERT_THEN_READ,UPSERT,READ_THEN_INSERT}. Duplicates that meet:
 * {@code -t 8}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 3)
@Measurement(iterations = 4, time = 3)
@Fork(1)
public class ClaimStatementBenchmark {

	@Param("jdbc:postgresql://127.0.0.1:5432/postgres?user=postgres")
	private String url;

	@Param({ "0", "1" })
	private int networkMillis;

	@Param
	private ClaimStatements statements;

	private final AtomicLong sequence = new AtomicLong();

	private Vendor vendor;

	private SlowNetwork network;

	private HikariDataSource pool;

	@Setup
	public void open() throws IOException, SQLException {
		this.vendor = Vendor.of(this.url);
		URI server = URI.create(this.url.substring("jdbc:".length()));
		this.network = SlowNetwork.to(server.getPort(), TimeUnit.MILLISECONDS.toNanos(this.networkMillis) / 2);
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl((this.networkMillis == 0) ? this.url
				: this.url.replace(":" + server.getPort() + "/", ":" + this.network.port() + "/"));
		this.pool = new HikariDataSource(config);
		JdbcTemplate jdbc = new JdbcTemplate(this.pool);
		jdbc.execute("drop table if exists claim_statement");
		jdbc.execute(this.vendor.table());
		expect(claim(0, 0), true);
	}

	@TearDown
	public void close() throws IOException {
		this.pool.close();
		this.network.close();
	}

	@Benchmark
	public void fresh() throws SQLException {
		long next = this.sequence.incrementAndGet();
		expect(claim(next, next), true);
	}

	@Benchmark
	public void duplicate() throws SQLException {
		expect(claim(0, this.sequence.incrementAndGet()), false);
	}

	private boolean claim(long key, long owner) throws SQLException {
		try (Connection connection = this.pool.getConnection()) {
			return this.statements.claim(connection, this.vendor, bytes(key), bytes(owner));
		}
	}

	private static byte[] bytes(long number) {
		// Spread, as hashes are.
		return ByteBuffer.allocate(32).putLong(number * 0x9E3779B97F4A7C15L).putLong(number).array();
	}

	private static void expect(boolean claimed, boolean expected) {
		if (claimed != expected) {
			throw new IllegalStateException("claimed: " + claimed);
		}
	}

}
