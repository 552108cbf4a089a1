package io.idempotency.store.r2dbc;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlLine;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.r2dbc.pool.ConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a verb costs in messages to PostgreSQL over R2DBC, with the pool around it: one
 * statement that the connection has prepared before, and nothing to set up or to check
 * the connection.
 */
@Requires(Backend.POSTGRESQL)
class R2dbcServerMessageTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final TestDatabase database = TestDatabase.postgreSql().withTable();

	private final PostgreSqlLine line = new PostgreSqlLine(this.database.jdbc().port());

	private final ConnectionPool pool = TestDatabase
		.of(this.database.jdbc().through(this.line.port()), this.database.driver())
		.pool(1);

	private final R2dbcIdempotencyStore store = new R2dbcIdempotencyStore(this.pool, null,
			R2dbcIdempotencyStore.DEFAULT_TABLE_NAME, PATIENCE, PATIENCE);

	R2dbcServerMessageTests() throws IOException {
		// Prepares the statements.
		ClaimRequest request = Requests.claim();
		complete(claim(request));
		look(request);
		release(claim(Requests.claim()));
	}

	@AfterEach
	void stop() {
		this.pool.dispose();
		this.line.close();
	}

	@Test
	void freshCallIsTwoStatements() {
		expectStatements(2, () -> complete(claim(Requests.claim())));
	}

	@Test
	void failedCallIsTwoStatements() {
		expectStatements(2, () -> release(claim(Requests.claim())));
	}

	@Test
	void replayIsOneStatement() {
		ClaimRequest request = Requests.claim();
		complete(claim(request));
		expectStatements(1, () -> look(request));
		expectStatements(1, () -> assertThat(answer(this.store.claim(Requests.claim(request.key()))))
			.isInstanceOf(ClaimResult.Completed.class));
	}

	private Claim claim(ClaimRequest request) {
		return ((ClaimResult.Acquired) answer(this.store.claim(request))).claim();
	}

	private void complete(Claim claim) {
		assertThat(answer(this.store.complete(Requests.result(claim)))).isTrue();
	}

	private void release(Claim claim) {
		assertThat(answer(this.store.release(claim.key(), claim.id()))).isTrue();
	}

	private void look(ClaimRequest request) {
		assertThat(answer(this.store.find(request.key(), request.fingerprint()))).isNotNull();
	}

	private static <T> T answer(Mono<T> verb) {
		return verb.blockOptional(PATIENCE).orElseThrow();
	}

	private void expectStatements(long statements, Runnable verbs) {
		// The driver has each described and closed, in the same round trip.
		assertThat(this.line.messagesOf(verbs)).isEqualTo(Stream.of("B", "C", "D", "E", "S")
			.collect(Collectors.toMap(Function.identity(), (type) -> statements)));
	}

}
