package io.idempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.netty.util.Version;
import org.apache.catalina.util.ServerInfo;

import org.springframework.boot.SpringBootVersion;

/** What was measured, as it is written down. */
final class Page {

	private final List<String> goals = new ArrayList<>();

	private final List<String> requests = new ArrayList<>();

	private final List<String> tables = new ArrayList<>();

	private final List<String> failures = new ArrayList<>();

	/** The seconds that each server took. */
	private final List<Double> warmUps = new ArrayList<>();

	private int notWarm;

	private final Map<String, List<Figure.Measured>> charts = new LinkedHashMap<>();

	/** Adds whole requests. */
	void add(Stages.Stage stage, List<Figure.Measured> results) {
		String jdk = stage.jdk().equals(Jdk.current()) ? "" : " (" + stage.jdk() + ")";
		this.requests.add(row("**" + stage.name() + "**" + jdk, "", "", "", "", ""));
		for (Figure.Measured result : results) {
			this.requests.add(row(result.figure().name(), result.rate(), result.cost(), result.bytes().whole(),
					result.latency(), result.pairs() + " (" + result.ignored() + ")"));
			judge(result.figure().goal(), result.rate().median());
			judge(result.figure().bytes(), result.bytes().median());
		}
		if (!stage.chart().isEmpty()) {
			this.charts.computeIfAbsent(stage.chart(), (name) -> new ArrayList<>()).addAll(results);
		}
	}

	/** Notes how long a server was warmed up, and whether that was enough. */
	void warmedUp(double seconds, boolean enough) {
		this.warmUps.add(seconds);
		this.notWarm += enough ? 0 : 1;
	}

	/** Says whether a goal is met, if there is one. */
	void judge(Goal goal, double value) {
		if (goal != null) {
			this.goals.add(row(goal.name(), goal, goal.show(value), goal.isMetBy(value) ? "met" : "**not met**"));
		}
	}

	/** Adds a table with a heading. */
	void table(String heading, String text, List<String> columns, List<List<?>> rows) {
		StringBuilder table = new StringBuilder("## " + heading + "\n\n" + text + "\n\n");
		table.append(row(columns.toArray())).append('|').append("---|".repeat(columns.size())).append('\n');
		rows.forEach((cells) -> table.append(row(cells.toArray())));
		this.tables.add(table.toString());
	}

	void fail(String section, Exception failure) {
		this.failures.add("- " + section + ": " + failure.toString().lines().findFirst().orElse("") + "\n");
	}

	boolean hasFailures() {
		return !this.failures.isEmpty();
	}

	private static String row(Object... cells) {
		StringBuilder row = new StringBuilder("|");
		for (Object cell : cells) {
			row.append(' ').append(cell).append(" |");
		}
		return row.append('\n').toString();
	}

	void write(Settings settings, Machine machine, String servers, Duration duration) throws IOException {
		Files.createDirectories(settings.directory());
		for (Map.Entry<String, List<Figure.Measured>> chart : this.charts.entrySet()) {
			RatioChart.write(chart.getValue(), settings.directory().resolve(chart.getKey() + ".svg"));
		}
		Files.writeString(settings.directory().resolve("figures.md"), text(settings, machine, servers, duration));
	}

	private String warmUps(Settings settings) {
		Spread seconds = Spread.of(this.warmUps);
		return String.format(Locale.ROOT,
				"each of %d servers until its compiler had nothing left to do for any of its variants: %.0f s (%.0f to %.0f s); %d did not come to that in %d s",
				this.warmUps.size(), seconds.median(), seconds.least(), seconds.most(), this.notWarm,
				settings.warmUp().toSeconds());
	}

	private String text(Settings settings, Machine machine, String servers, Duration duration) throws IOException {
		StringBuilder text = new StringBuilder("""
				# Figures

				This page is written by a command, with its charts. Do not change it by hand: run

				```sh
				./mvnw -q -pl :idempotency-benchmarks -am -DskipTests -Pperformance verify
				```

				""");
		text.append("| | |\n|---|---|\n");
		text.append(row("date", LocalDate.now(ZoneOffset.UTC)));
		text.append(row("machine", machine.describe()));
		text.append(row("versions",
				"Spring Boot " + SpringBootVersion.getVersion() + ", Tomcat " + ServerInfo.getServerNumber()
						+ ", Netty " + Version.identify().get("netty-common").artifactVersion() + ", " + Jdk.current()
						+ ", " + servers));
		text.append(row("settings", settings.rounds() + " pairs of turns of " + settings.millis() + " ms, "
				+ Settings.CONNECTIONS + " connections, JSON of " + Settings.BODY + " bytes in and out"));
		if (!this.warmUps.isEmpty()) {
			text.append(row("warm-up", warmUps(settings)));
		}
		text.append(row("it took", duration.toMinutes() + " min " + duration.toSecondsPart() + " s"));
		if (settings.isPartial()) {
			// A bar would end the cell.
			String only = settings.only().pattern().replace("|", "\\|");
			text.append(row("sections", "only those that match `" + only + "`"));
		}
		text.append(
				"""

						A ratio is the median of the ratios of pairs of turns, with the least and the most of them in brackets. Client, server and store share the processors.
						[The README](README.md) says what limits the figures, and has those that are measured by hand.

						## Goals

						A value is rounded away from its goal.

						| | goal | measured | |
						|---|---|---|---|
						""");
		this.goals.forEach(text::append);
		text.append(row("claim at 10⁶ keys ÷ 10³, Redis and SQL", "≤ 1.1 (Redis), ≤ 1.2 (SQL)",
				"[by hand](README.md#many-records)", ""));
		text.append(row("purge of 10⁶ rows under load, worst call, PostgreSQL / MariaDB / MySQL", "≤ 30 / 50 / 100 ms",
				"[by hand](README.md#purge)", ""));
		text.append(
				"""

						## Whole requests

						One small application with a guarded endpoint and others beside it: *unguarded* is the same handler without the annotation; *two raw commands* is the
						unguarded one that sends `SET NX PX` and `SET` itself; *one raw command* sends a `GET` and has no argument to read; *own binder* is guarded by an application
						that takes part in the binding of its arguments, so that they are bound for a duplicate, too; *40 % duplicates* repeats the last key in two of five requests;
						with *one hot key* all connections send the key of one finished call; *in flight* 15 connections send that of a call that runs. On *WebFlux* the applications have Netty and no Tomcat. A request of the *listener* is
						twenty deliveries, one after the other.

						""");
		this.charts.keySet()
			.forEach((name) -> text.append("![Requests a second, ratios: ")
				.append(name)
				.append("](")
				.append(name)
				.append(".svg)\n"));
		text.append("\n")
			.append(row("", "requests a second", "processor time of the server", "bytes beyond it", "its p50, p99, ms",
					"pairs (not counted)"));
		text.append("|---|---|---|---|---|---|\n");
		this.requests.forEach(text::append);
		this.tables.forEach((table) -> text.append('\n').append(table));
		if (hasFailures()) {
			text.append("\n## Not measured\n\n");
			this.failures.forEach(text::append);
		}
		return text.toString();
	}

	/** Measures, and writes what came out. */
	@FunctionalInterface
	interface Section {

		void into(Page page) throws Exception;

	}

}
