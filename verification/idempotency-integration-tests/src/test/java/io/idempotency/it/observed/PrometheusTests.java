package io.idempotency.it.observed;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.idempotency.it.client.Answer;
import io.idempotency.it.observed.ObservedApplication.Meanwhile;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PrometheusServer;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The alerts and the dashboard, as a real Prometheus reads them. Each thing is provoked
 * for the first time while Prometheus looks, because that is when a counter that is not
 * there yet is not seen.
 */
@Requires({ Backend.REDIS, Backend.PROMETHEUS })
@Timeout(180)
class PrometheusTests {

	/** The range of a panel, and the window of its rates. */
	private static final Duration RANGE = Duration.ofMinutes(2);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Test
	void alertsRingWhenTheyMustAndNotElse() {
		assertThat(PrometheusServer.promtool("check", "rules", "../../docs/grafana/idempotency-alerts.yaml"))
			.contains("SUCCESS");
		assertThat(PrometheusServer.promtool("test", "rules", "../../docs/grafana/idempotency-alerts-test.yaml"))
			.contains("SUCCESS");
	}

	@Test
	void panelsAndAlertsShowWhatWasProvokedTheFirstTimeIncluded() {
		try (RedisServer redis = RedisServer.start(RedisBinary.REDIS_7_0);
				Node rejecting = new Node(redis);
				Node proceeding = new Node(redis, "idempotency.on-store-failure=proceed", "idempotency.lease=1600ms",
						"idempotency.renewal=false");
				Node alone = new Node(redis, "idempotency.store=memory", "idempotency.memory.max-size=1MB");
				PrometheusServer prometheus = new PrometheusServer(
						Path.of("../../docs/grafana/idempotency-alerts.yaml"), Map.of("rejecting", rejecting.port(),
								"proceeding", proceeding.port(), "alone", alone.port()))) {
			Dashboard dashboard = new Dashboard(prometheus);
			await().atMost(PATIENCE)
				.until(() -> dashboard.query("count(idempotency_claims_running)").equals(Map.of("", 3.0))
						&& !dashboard.query("idempotency_seconds_count offset 2s").isEmpty());
			assertThat(post(alone, "/unkept", "k", "body").status()).isEqualTo(200);
			provoke(rejecting, proceeding, dashboard);
			// A scrape reads one counter after the other, and each node has its own: the
			// first that shows the last call need not show all of it.
			await().atMost(PATIENCE).untilAsserted(() -> showsWhatWasProvoked(dashboard));
			await().atMost(PATIENCE)
				.untilAsserted(() -> assertThat(dashboard.alerts()).containsExactlyInAnyOrder(
						"IdempotencyLeaseLost proceeding plain", "IdempotencyLeaseLost proceeding future",
						"IdempotencyStoreErrors rejecting plain", "IdempotencyUnguardedRuns proceeding plain",
						"IdempotencyUnguardedRuns proceeding fails"));
			assertThat(dashboard.titles()).allSatisfy((title) -> assertThat(dashboard.allValues(title)).isNotEmpty()
				.allSatisfy((values) -> assertThat(values).isNotEmpty()));
		}
	}

	private static void showsWhatWasProvoked(Dashboard dashboard) {
		assertThat(List.of("Rejected by store errors", "Unguarded runs", "Lost leases", "Reused keys"))
			.extracting((title) -> dashboard.shows(title).get(""))
			.containsExactly(2L, 2L, 2L, 1L);
		Map<String, Long> outcomes = dashboard.shows("Calls by outcome");
		assertThat(outcomes).containsAllEntriesOf(Map.of("key-reused", 1L, "store-unavailable", 2L))
			// These series begin with their first call, which Prometheus does not count.
			.containsKeys("replayed", "lease-lost", "duplicate", "result-unavailable", "recovered")
			// Prometheus extrapolates to the ends of the range.
			.hasEntrySatisfying("executed", (executed) -> assertThat(executed).isBetween(9L, 10L));
		assertThat(outcomes.get("in-progress")).isPositive();
		assertThat(dashboard.values("Proportion of duplicates")).containsKeys("once", "found");
		assertThat(dashboard.shows("Events")).containsEntry("lease-lost", 2L)
			.containsEntry("taken-over", 2L)
			.containsEntry("unguarded", 2L)
			.containsEntry("result-not-stored", 3L);
		assertThat(dashboard.shows("Store failures").values()).anyMatch((failures) -> failures > 0);
		// The store did not answer until the time-out.
		assertThat(dashboard.values("Longest store operation").get("redis claim")).isGreaterThan(5.0);
		assertThat(dashboard.values("Memory store").values()).singleElement()
			.satisfies((part) -> assertThat(part).isBetween(0.00001, 0.1));
		assertThat(dashboard.values("Keys evicted by Redis")).isEqualTo(Map.of("proceeding", 0.0, "rejecting", 0.0));
	}

	private static void provoke(Node rejecting, Node proceeding, Dashboard dashboard) {
		Meanwhile meanwhile = rejecting.application.getBean(Meanwhile.class);
		assertThat(post(rejecting, "/plain", "k1", "body").status()).isEqualTo(200);
		assertThat(post(rejecting, "/plain", "k1", "body").replayed()).isTrue();
		assertThat(post(rejecting, "/plain", "k1", "body").replayed()).isTrue();
		assertThat(post(rejecting, "/plain", "k1", "other").status()).isEqualTo(422);
		meanwhile.set(() -> {
			assertThat(post(rejecting, "/plain", "k2", "body").status()).isEqualTo(409);
			await().atMost(PATIENCE).untilAsserted(() -> {
				assertThat(dashboard.shows("Calls in progress")).containsEntry("plain", 1L);
				assertThat(dashboard.shows("Claims and waiting duplicates")).isEqualTo(Map.of("", 1L));
			});
		});
		assertThat(post(rejecting, "/plain", "k2", "body").status()).isEqualTo(200);
		assertThat(statuses(rejecting, "/once")).containsExactly(200, 409);
		assertThat(statuses(rejecting, "/unkept")).containsExactly(200, 409);
		assertThat(statuses(rejecting, "/found")).containsExactly(200, 200);
		// Its owner still runs when the lease is over, and is too late then.
		proceeding.application.getBean(Meanwhile.class)
			.set(() -> await().atMost(PATIENCE).until(() -> post(proceeding, "/plain", "k5", "body").status() == 200));
		assertThat(post(proceeding, "/plain", "k5", "body").status()).isEqualTo(200);
		loseALeaseWhileTheStoreIsAway(rejecting, proceeding, dashboard);
		rejecting.line.holdUp();
		// One rejected call rings nobody.
		assertThat(post(rejecting, "/plain", "k3", "body").status()).isEqualTo(503);
		assertThat(post(rejecting, "/plain", "k3", "body").status()).isEqualTo(503);
		rejecting.line.letGo();
		proceeding.line.cut();
		assertThat(post(proceeding, "/plain", "k4", "body").status()).isEqualTo(200);
		assertThat(post(proceeding, "/fails", "k4", "body").status()).isEqualTo(502);
	}

	/** The answer is out before anybody can know that another call has run, too. */
	private static void loseALeaseWhileTheStoreIsAway(Node rejecting, Node proceeding, Dashboard dashboard) {
		proceeding.application.getBean(Meanwhile.class).set(() -> {
			proceeding.line.cut();
			await().atMost(PATIENCE).until(() -> post(rejecting, "/future", "k6", "body").status() == 200);
		});
		assertThat(post(proceeding, "/future", "k6", "body").status()).isEqualTo(200);
		expectOutstanding(dashboard, 1);
		proceeding.line.mend();
		expectOutstanding(dashboard, 0);
	}

	private static void expectOutstanding(Dashboard dashboard, long writes) {
		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(dashboard.shows("Pending writes")).isEqualTo(Map.of("", writes)));
	}

	private static List<Integer> statuses(Node node, String path) {
		return List.of(post(node, path, "k", "body").status(), post(node, path, "k", "body").status());
	}

	private static Answer post(Node node, String path, String key, String body) {
		return node.client.post(path, key, "text/plain", body);
	}

	/** The panels of the dashboard, by their titles. */
	private static final class Dashboard {

		private final PrometheusServer prometheus;

		private final Map<String, List<String>> panels = new TreeMap<>();

		Dashboard(PrometheusServer prometheus) {
			this.prometheus = prometheus;
			OperationsPages.panels("docs/grafana/idempotency-dashboard.json").forEach(this.panels::put);
		}

		Set<String> titles() {
			return this.panels.keySet();
		}

		/** What the first query of a panel gives, by its labels, as Grafana asks. */
		Map<String, Double> values(String title) {
			return allValues(title).get(0);
		}

		/** What each query of a panel gives. */
		List<Map<String, Double>> allValues(String title) {
			return this.panels.get(title)
				.stream()
				.map((expression) -> query(expression.replace("$__range", RANGE.toSeconds() + "s")
					.replace("$__rate_interval", RANGE.toSeconds() + "s")
					.replace("$job", ".*")
					.replace("$operation", ".*")))
				.toList();
		}

		/** The alerts that ring, each with its service and its operation. */
		Set<String> alerts() {
			return query("count by (alertname, job, operation) (ALERTS{alertstate=\"firing\"})").keySet();
		}

		/** The number that was provoked: a rate is one of the whole range. */
		Map<String, Long> shows(String title) {
			boolean rate = this.panels.get(title).get(0).contains("rate(");
			Map<String, Long> shown = new TreeMap<>();
			values(title)
				.forEach((labels, value) -> shown.put(labels, Math.round(value * (rate ? RANGE.toSeconds() : 1))));
			return shown;
		}

		@SuppressWarnings("unchecked")
		Map<String, Double> query(String expression) {
			Map<String, Object> answer = new Yaml().load(this.prometheus.query(expression));
			List<Map<String, Object>> series = (List<Map<String, Object>>) ((Map<String, Object>) answer.get("data"))
				.get("result");
			Map<String, Double> values = new TreeMap<>();
			for (Map<String, Object> each : series) {
				String labels = String.join(" ", ((Map<String, String>) each.get("metric")).values());
				values.put(labels, Double.valueOf(String.valueOf(((List<Object>) each.get("value")).get(1))));
			}
			return values;
		}

	}

}
