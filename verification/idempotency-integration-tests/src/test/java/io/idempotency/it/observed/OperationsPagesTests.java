package io.idempotency.it.observed;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyOutcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Dashboard, alerts and runbook can be read, and ask for what there is. */
class OperationsPagesTests {

	static final List<String> FILES = OperationsPages.FILES;

	@ParameterizedTest
	@FieldSource("FILES")
	void eachFileHasQueriesWhoseBracketsMatch(String file) {
		assertThat(OperationsPages.queries(file)).hasSizeGreaterThan(3)
			.allSatisfy((query) -> assertThat(count(query, '(')).isEqualTo(count(query, ')')))
			.allSatisfy((query) -> assertThat(count(query, '{')).isEqualTo(count(query, '}')));
	}

	private static long count(String text, char sign) {
		return text.chars().filter((each) -> each == sign).count();
	}

	@Test
	void outcomesAndEventsOfTheQueriesExist() {
		assertThat(Arrays.stream(IdempotencyOutcome.values()).map(IdempotencyOutcome::value).toList())
			.containsAll(OperationsPages.labelled("outcome").stream().filter((value) -> !isOfAStore(value)).toList());
		assertThat(Arrays.stream(IdempotencyEvent.values())
			.map((event) -> event.name().toLowerCase(Locale.ROOT).replace('_', '-'))
			.toList()).containsAll(OperationsPages.labelled("event"));
	}

	private static boolean isOfAStore(String value) {
		return value.equals("success") || value.equals("error");
	}

	@Test
	void eachAlertHasASectionWithACommandInTheRunbook() {
		List<String> alerts = OperationsPages.alerts();
		assertThat(alerts).isNotEmpty();
		String runbook = OperationsPages.text("docs/alerts.md");
		assertThat(alerts).allSatisfy((alert) -> {
			assertThat(runbook).contains("\n## " + alert + "\n");
			String section = runbook.substring(runbook.indexOf("\n## " + alert) + 1).split("\n## ")[0];
			assertThat(section).contains("**Severity:** ", "**Clients see:** ", "**Money at risk:** ",
					"**First command:**\n\n```", "**Assess", "**Repair");
		});
		assertThat(OperationsPages.text("docs/grafana/idempotency-alerts.yaml")).contains(alerts.stream()
			.map((alert) -> "runbook_url: \"docs/alerts.md#" + alert.toLowerCase(Locale.ROOT) + "\"")
			.toList());
	}

	/** A store is often shared by services that different people look after. */
	@Test
	void eachPanelIsOfTheChosenServiceAndEachAlertNamesOne() {
		assertThat(OperationsPages.queries("docs/grafana/idempotency-dashboard.json")).isNotEmpty()
			.allSatisfy((query) -> assertThat(count(query, '{')).isPositive()
				.isEqualTo(query.split("job=~\"\\$job\"", -1).length - 1));
		assertThat(OperationsPages.queries("docs/grafana/idempotency-alerts.yaml")).isNotEmpty()
			.allSatisfy((query) -> assertThat(query).contains(" by (job"));
	}

	/** Two units on one axis hide the smaller number. */
	@Test
	void eachQueryIsOnAnAxisOfItsUnit() {
		assertThat(OperationsPages.units("docs/grafana/idempotency-dashboard.json")).hasSizeGreaterThan(15)
			.allSatisfy((query, unit) -> assertThat(unit.replace("reqps", "ops")).isEqualTo(unit(query)));
	}

	private static String unit(String query) {
		if (query.contains("_seconds_sum") || query.matches(".*(_seconds_max|_delay_seconds).*")) {
			return "s";
		}
		if (query.contains(" / ")) {
			return "percentunit";
		}
		if (query.contains("rate(")) {
			return "ops";
		}
		return query.contains("_bytes") ? "bytes" : "short";
	}

	@Test
	void whatNobodyMayMissIsAlertedOn() {
		assertThat(OperationsPages.queries("docs/grafana/idempotency-alerts.yaml").toString()).contains("unguarded",
				"lease-lost", "store-unavailable", "key-reused");
	}

}
