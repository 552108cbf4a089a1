package io.idempotency.it.observed;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.idempotency.it.client.Answer;
import io.idempotency.it.observed.ObservedApplication.Meanwhile;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A script whose outcomes are known, and what Prometheus reads of it. The counters are
 * those of one application, so the script comes first.
 */
@Requires(Backend.REDIS)
@Timeout(120)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ObservedOnTomcatTests {

	private static RedisServer server;

	/** Whose calls are rejected while the store is cut off. */
	private static Node rejecting;

	/** Whose calls run unguarded while the store is cut off. */
	private static Node proceeding;

	@BeforeAll
	static void start() {
		server = RedisServer.start(RedisBinary.REDIS_7_0);
		rejecting = new Node(server);
		proceeding = new Node(server, "idempotency.on-store-failure=proceed");
	}

	@AfterAll
	static void stop() {
		rejecting.close();
		proceeding.close();
		server.close();
	}

	private static Answer post(Node node, String path, String key, String body) {
		return node.client.post(path, key, "text/plain", body);
	}

	private static void post(String path, int... statuses) {
		for (int status : statuses) {
			assertThat(post(rejecting, path, "k-secret", "body").status()).as(path).isEqualTo(status);
		}
	}

	@Test
	@Order(1)
	void eachOutcomeIsCountedExactly() {
		Map<String, Long> expected = new TreeMap<>();

		Answer first = post(rejecting, "/plain", "k-secret", "body");
		assertThat(first.text()).isEqualTo("idempotency body");
		assertThat(post(rejecting, "/plain", "k-secret", "body").replayed()).isTrue();
		assertThat(post(rejecting, "/plain", "k-secret", "body").replayed()).isTrue();
		assertThat(post(rejecting, "/plain", "k-secret", "other").status()).isEqualTo(422);
		expected.putAll(Map.of("plain executed", 1L, "plain replayed", 2L, "plain key-reused", 1L));

		Meanwhile meanwhile = rejecting.application.getBean(Meanwhile.class);
		meanwhile.set(() -> assertThat(post(rejecting, "/plain", "k-busy", "body").status()).isEqualTo(409));
		assertThat(post(rejecting, "/plain", "k-busy", "body").status()).isEqualTo(200);
		expected.merge("plain executed", 1L, Long::sum);
		expected.put("plain in-progress", 1L);

		meanwhile.set(() -> {
			server.command("FLUSHALL");
			assertThat(post(rejecting, "/plain", "k-lost", "body").status()).isEqualTo(200);
		});
		assertThat(post(rejecting, "/plain", "k-lost", "body").status()).isEqualTo(200);
		expected.merge("plain executed", 1L, Long::sum);
		expected.put("plain lease-lost", 1L);

		post("/once", 200, 409, 409);
		expected.putAll(Map.of("once executed", 1L, "once duplicate", 2L));
		post("/fails", 502, 502);
		expected.put("fails failed", 2L);
		post("/rejects", 409, 409);
		expected.putAll(Map.of("rejects executed", 1L, "rejects replayed", 1L));
		post("/unkept", 200, 409);
		expected.putAll(Map.of("unkept executed", 1L, "unkept result-unavailable", 1L));
		post("/found", 200, 200);
		expected.putAll(Map.of("found executed", 1L, "found recovered", 1L));
		post("/released", 200, 200);
		expected.put("released released", 2L);
		post("/future", 200, 200);
		expected.putAll(Map.of("future executed", 1L, "future replayed", 1L));
		assertThat(post(rejecting, "/task", "k-secret", "body").text()).isEqualTo("idempotency ");
		post("/task", 200);
		expected.putAll(Map.of("task executed", 1L, "task replayed", 1L));
		post("/method?id=7", 200, 200);
		expected.putAll(Map.of("method executed", 1L, "method replayed", 1L));
		post("/template?id=7", 200, 200);
		expected.putAll(Map.of("template executed", 1L, "template replayed", 1L));

		assertThat(rejecting.outcomes()).isEqualTo(expected);
	}

	@Test
	@Order(2)
	void storeIsTimed() {
		List<Sample> samples = rejecting.scrape();
		assertThat(value(samples, "idempotency_store_seconds_count", "verb", "claim")).isGreaterThan(10);
		assertThat(value(samples, "idempotency_store_seconds_count", "verb", "complete")).isGreaterThan(5);
		assertThat(value(samples, "idempotency_store_seconds_count", "outcome", "error")).isZero();
		assertThat(value(samples, "idempotency_events_total", "event", "lease-lost")).isEqualTo(1);
		assertThat(samples).filteredOn((sample) -> sample.name().equals("idempotency_claims_running"))
			.singleElement()
			.satisfies((running) -> assertThat(running.value()).isZero());
	}

	private static double value(List<Sample> samples, String name, String label, String labelled) {
		return samples.stream()
			.filter((sample) -> sample.name().equals(name) && sample.label(label).equals(labelled))
			.mapToDouble(Sample::value)
			.sum();
	}

	@Test
	@Order(3)
	void noTagHasAKeyOrABody() {
		assertThat(rejecting.scrape()).isNotEmpty()
			.allSatisfy((sample) -> assertThat(sample.labels().toString()).doesNotContain("k-secret")
				.doesNotContain("body"));
	}

	@Test
	@Order(4)
	void whatIsDrawnAndAlertedOnIsMeasured() {
		// The memory store is measured where the records are in memory.
		OperationsPages.names()
			.forEach((page, names) -> assertThat(rejecting.scrape()).extracting(Sample::name)
				.as(page)
				.containsAll(names.stream().filter((name) -> !name.startsWith("idempotency_memory_")).toList()));
	}

	@Test
	@Order(5)
	void storeThatIsCutOffIsDownOrDegradesCallsThatRunUnguarded() {
		expectHealth(rejecting, 200, "UP");
		expectHealth(proceeding, 200, "UP");
		rejecting.line.cut();
		proceeding.line.cut();
		assertThat(post(rejecting, "/plain", "k-cut", "body").status()).isEqualTo(503);
		assertThat(post(proceeding, "/plain", "k-cut", "body").status()).isEqualTo(200);
		expectHealth(rejecting, 503, "DOWN");
		expectHealth(proceeding, 200, "DEGRADED");
		assertThat(proceeding.client.send(proceeding.client.to("/actuator/health").GET()).status()).isEqualTo(200);
		assertThat(rejecting.outcomes()).containsEntry("plain store-unavailable", 1L);
		assertThat(proceeding.outcomes()).isEqualTo(Map.of("plain unguarded", 1L));
		assertThat(value(rejecting.scrape(), "idempotency_store_seconds_count", "outcome", "error")).isPositive();
		rejecting.line.mend();
		proceeding.line.mend();
		expectHealth(rejecting, 200, "UP");
		expectHealth(proceeding, 200, "UP");
	}

	private static void expectHealth(Node node, int status, String health) {
		await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
			Answer answer = node.client.send(node.client.to("/actuator/health/idempotency").GET());
			assertThat(answer.text()).contains("\"status\":\"" + health + "\"");
			assertThat(answer.status()).isEqualTo(status);
		});
	}

}
